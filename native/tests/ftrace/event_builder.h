// A kernel with three events, its formats and its records, for the tests of the encoder.
#pragma once

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "ftrace/event_encoder.h"

namespace unjank::ftrace::testing {

inline constexpr std::string_view kCommonFields =
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";

inline EventFormat switch_format() {
  return *parse_event_format("name: sched_switch\nID: 372\nformat:\n" + std::string(kCommonFields) +
                             "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
                             "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
                             "\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n"
                             "\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
                             "\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n"
                             "\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n"
                             "\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;\n");
}

// This one's name is text elsewhere in the record, as some kernels have it.
inline EventFormat exit_format(std::string_view comm_kind = "__data_loc") {
  return *parse_event_format("name: sched_process_exit\nID: 369\nformat:\n" + std::string(kCommonFields) +
                             "\tfield:" + std::string(comm_kind) +
                             " char[] comm;\toffset:8;\tsize:4;\tsigned:0;\n"
                             "\tfield:pid_t pid;\toffset:12;\tsize:4;\tsigned:1;\n");
}

class RecordBuilder {
 public:
  RecordBuilder(std::uint16_t type, std::int32_t pid) { put(0, type).put(4, pid); }

  template <class Number>
  RecordBuilder& put(std::size_t offset, Number number) {
    grow(offset + sizeof number);
    std::memcpy(bytes_.data() + offset, &number, sizeof number);
    return *this;
  }

  RecordBuilder& text(std::size_t offset, std::string_view text, std::size_t size) {
    grow(offset + size);
    std::memcpy(bytes_.data() + offset, text.data(), text.size());
    return *this;
  }

  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  void grow(std::size_t size) {
    if (bytes_.size() < size) bytes_.resize(size);
  }
  std::vector<std::byte> bytes_;
};

inline RecordBuilder switch_record(std::int32_t prev, std::int32_t next) {
  return RecordBuilder(372, prev)
      .text(8, "waiter", 16)
      .put(24, prev)
      .put(28, std::int32_t{120})
      .put(32, std::int64_t{1})
      .text(40, "owner", 16)
      .put(56, next)
      .put(60, std::int32_t{139});
}

}  // namespace unjank::ftrace::testing
