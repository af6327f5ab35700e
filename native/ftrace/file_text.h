// Small text files of /proc and tracefs, and file descriptors that close themselves.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

namespace unjank::ftrace {

// A descriptor of our own inside somebody else's program, which may close all it does not know (daemons do) and
// then get our number for a file of its own: so the number lies high, and `is_ours` tells before it is used.
class OwnFd {
 public:
  explicit OwnFd(int fd = -1);  // takes `fd` over; -1 is none
  OwnFd(OwnFd&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)), device_(other.device_), inode_(other.inode_) {}
  OwnFd& operator=(OwnFd&&) = delete;
  ~OwnFd();

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  bool is_ours() const;

 private:
  int fd_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

inline constexpr std::size_t kTextLimit = 1 << 20;

// The file's text, at most `limit` bytes of it; nothing, and `errno`, where it cannot be read.
std::optional<std::string> read_text(const std::string& path, std::size_t limit = kTextLimit);

}  // namespace unjank::ftrace
