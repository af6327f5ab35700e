// Reads back what the recorder writes: just as much of Perfetto's format as the tests look at. Independent of the
// encoder, and strict: a torn packet, an id that was never told or a wrong wire type throws.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace unjank::record::test {

/// A field of a protobuf message. `value` is the number, `text` the bytes of what has a length.
struct Field {
  std::uint32_t number = 0;
  std::uint64_t value = 0;
  std::string_view text;
};

std::vector<Field> fields_of(std::string_view message);

struct ReadEvent {
  enum Type { kBegin = 1, kEnd = 2, kInstant = 3, kCounter = 4 };
  std::uint32_t sequence = 0;
  Type type = kInstant;
  std::int64_t ts_ns = 0;
  std::uint64_t track = 0;
  std::string category;
  std::string name;
  std::uint64_t flow = 0;
  bool ends_flow = false;
  std::int64_t counter = 0;
  std::map<std::string, std::string> arguments;  // numbers as decimal text

  std::string argument(const std::string& key) const;
};

struct ReadThread {
  std::int64_t pid = 0;
  std::int64_t tid = 0;
  std::string name;
};

struct ReadTrace {
  std::size_t packets = 0;
  std::size_t states_cleared = 0;
  std::vector<ReadEvent> events;                  // in the order of the file
  std::map<std::uint64_t, ReadThread> threads;    // by track; the last description counts
  std::map<std::uint64_t, std::string> processes; // by track
  std::map<std::uint64_t, std::pair<std::string, std::uint64_t>> counters;  // by track: name, parent

  std::vector<ReadEvent> on(std::uint64_t track) const;
  std::vector<ReadEvent> named(std::string_view name) const;
  /// The track of the thread of that name; throws if there is not exactly one.
  std::uint64_t track_of(std::string_view thread_name) const;
};

/// Throws std::runtime_error where the bytes are no whole, self-contained trace.
ReadTrace read_trace(std::string_view bytes);
ReadTrace read_trace(std::span<const std::byte> bytes);
std::string file_content(const std::string& path);

}  // namespace unjank::record::test
