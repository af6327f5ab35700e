// Facts beside the events: which kernel this is, and what its ring buffers counted.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/proto_writer.h"

namespace unjank::ftrace {

// per_cpu/cpuN/stats.
struct CpuStats {
  std::uint64_t entries = 0;
  std::uint64_t overrun = 0;         // overwritten before they were read
  std::uint64_t commit_overrun = 0;  // came while the ring could not turn
  std::uint64_t bytes = 0;
  std::uint64_t dropped_events = 0;  // refused because the ring was full and may not overwrite
  std::uint64_t read_events = 0;

  std::uint64_t lost() const { return overrun + commit_overrun + dropped_events; }
};

CpuStats parse_cpu_stats(std::string_view text);

// The kernel's release decides how `prev_state` is read, "preempted" in particular.
void write_system_info(std::uint32_t sequence_id, std::uint64_t timestamp_ns, ProtoWriter& out);

enum class StatsPhase { kStart, kEnd };

struct NumberedCpuStats {
  unsigned cpu;
  CpuStats stats;
};

void write_ftrace_stats(StatsPhase phase, std::span<const NumberedCpuStats> cpus, std::uint32_t sequence_id,
                        std::uint64_t timestamp_ns, ProtoWriter& out);

}  // namespace unjank::ftrace
