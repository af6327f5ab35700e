// Perfetto TrackEvent packets with interned strings: one sequence of one process.
//
// Field numbers: perfetto/protos/perfetto/trace/{trace_packet,track_event/*,interned_data/*}.proto.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/proto_writer.h"

namespace unjank::record {

enum class Category : std::uint8_t { kLock = 1, kWait, kUnjank, kMq };

/// What one packet says; filled by the caller, then written by `TrackEventWriter::write`.
struct TrackEvent {
  enum Type : std::uint8_t { kSliceBegin = 1, kSliceEnd = 2, kInstant = 3, kCounter = 4 };

  struct Argument {
    std::uint64_t key;     // interned
    bool is_text;
    std::uint64_t value;   // a number, or an interned string
  };

  Type type = kInstant;
  std::int64_t ts_ns = 0;
  std::uint64_t track = 0;
  Category category = Category::kUnjank;
  std::uint64_t name = 0;  // interned; counters have none, their track has
  std::uint64_t flow = 0;  // 0: none; a slice ends it, all others go on with it
  std::int64_t counter = 0;
  std::vector<Argument> arguments;
};

class TrackEventWriter {
 public:
  /// `sequence` must be unique among the processes that write to the file at the same time.
  /// `keys` have the ids 1, 2, … in the order given; other ones are interned as they come.
  TrackEventWriter(std::uint32_t sequence, std::vector<std::string_view> keys);

  // With the time from which the name holds: the kernel's own news of the process come before and after.
  void describe_process(std::int64_t ts_ns, std::uint64_t track, std::int32_t pid, std::string_view name,
                        const std::vector<std::string>& command_line);
  // The same as a ProcessTree packet: against the name that the kernel's events give a process, this one wins.
  void name_process(std::int64_t ts_ns, std::int32_t pid, std::int32_t parent_pid, std::string_view name,
                    const std::vector<std::string>& command_line);
  void describe_thread(std::int64_t ts_ns, std::uint64_t track, std::uint64_t parent, std::int32_t pid, std::int32_t tid,
                       std::string_view name);
  /// A track of numbers, shown below its parent's.
  void describe_counter(std::int64_t ts_ns, std::uint64_t track, std::uint64_t parent, std::string_view name);
  void write(const TrackEvent& event);

  /// Interned ids. An id is told to the reader in the packet that first uses it.
  std::uint64_t event_name(std::string_view name) { return names_.intern(name); }
  std::uint64_t key(std::string_view name) { return keys_.intern(name); }
  std::uint64_t text(std::string_view value) { return texts_.intern(value); }

  /// Starts the interned state anew once it is large, so that memory stays bounded. Before a TrackEvent is
  /// filled, never between. True if it did: ids from before are void.
  bool limit_interned_state();

  std::span<const std::byte> bytes() const { return out_.view(); }
  std::size_t size() const { return out_.size(); }
  void clear() { out_.clear(); }

 private:
  /// Text to id, and those that have not been written yet.
  class Interner {
   public:
    std::uint64_t intern(std::string_view text);
    void forget();
    /// Memory that the texts take, about.
    std::size_t bytes() const { return bytes_; }
    /// Writes what is new as `field` of the InternedData that is open.
    void write_new(ProtoWriter& out, std::uint32_t field);
    bool has_new() const { return !fresh_.empty(); }

   private:
    struct Hash {
      using is_transparent = void;
      std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
    };
    std::unordered_map<std::string, std::uint64_t, Hash, std::equal_to<>> ids_;
    std::vector<std::pair<std::uint64_t, std::string>> fresh_;
    std::size_t bytes_ = 0;
  };

  void start_state();
  void write_interned();
  void write_description(const TrackEvent& event);
  void write_sequence(bool needs_state);

  static constexpr std::size_t kMaxInterned = 16 << 20;  // bytes

  std::uint32_t sequence_;
  std::vector<std::string_view> fixed_keys_;
  bool state_cleared_ = true;  // the next packet tells the reader to forget what it has interned
  bool categories_new_ = true;
  bool first_packet_ = true;
  Interner names_;
  Interner keys_;
  Interner texts_;
  ProtoWriter out_;
};

}  // namespace unjank::record
