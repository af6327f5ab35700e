// A trace file that several processes append whole packets to.
//
// A Perfetto trace is a row of `packet` fields, so appending whole ones keeps it valid at every moment.
// Writers take turns by flock. How far the file is whole is kept in shared memory next to it: a writer that
// died or ran out of disk in the middle leaves a torn tail, and the next one cuts it off before it appends.
//
// Recording must not change the program. It may close every descriptor it does not know, or open files of
// its own under our number: so each append first checks that the descriptor still is our file, and opens
// it anew by its path if not. The number lies high, out of the way of those the program gets.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/packet_sink.h"

namespace unjank {

class PacketFile final : public PacketSink {
 public:
  /// Creates or empties the file. Throws std::system_error with the path.
  static PacketFile create(const std::string& path);
  /// A second writer: `path` as given to `create`, `shared_fd` from `share()` of the creator.
  static PacketFile join(const std::string& path, int shared_fd);

  PacketFile(PacketFile&& other) noexcept;
  PacketFile& operator=(PacketFile&&) = delete;
  ~PacketFile() override;

  /// All or nothing; false after an error, which `error()` then names. Later calls are refused as well.
  bool append(std::span<const std::byte> whole_packets) override;

  /// A descriptor of the shared state, to hand to a child process; the caller closes it.
  int share() const;
  /// In a forked child: a file description of our own, so that the lock tells the two processes apart.
  void reopen_after_fork();

  const std::string& path() const { return path_; }
  /// errno of the first failure of any writer, 0 if none.
  int error() const;
  /// Size of the whole part of the file, in bytes, by all writers.
  std::uint64_t committed() const;

 private:
  struct Shared;
  /// Which file a descriptor is, to tell when the program closed or reused its number.
  struct Identity {
    dev_t device = 0;
    ino_t inode = 0;
    bool regular = false;

    static Identity of(int fd);
    bool is(int fd) const;
  };

  PacketFile(std::string path, int fd, int shared_fd);
  bool append_locked(std::span<const std::byte> packets);
  bool cut_back_to(std::uint64_t whole);
  bool write_at(std::span<const std::byte> bytes, std::uint64_t offset);
  bool ensure_open();
  bool fail(int error);

  std::string path_;
  int fd_ = -1;
  int shared_fd_ = -1;
  Shared* shared_ = nullptr;
  Identity file_;
  Identity memory_;
  bool failed_ = false;
};

}  // namespace unjank
