#include "ftrace/system_packets.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <charconv>
#include <utility>

#include "ftrace/trace_fields.h"

namespace unjank::ftrace {
namespace {

// "overrun: 12" gives 12; 0 where the line is missing.
std::uint64_t count_after(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (!line.starts_with(key)) continue;
    std::uint64_t count = 0;
    std::from_chars(line.data() + key.size(), line.data() + line.size(), count);
    return count;
  }
  return 0;
}

void write_cpu_stats(const NumberedCpuStats& cpu, ProtoWriter& out) {
  const auto message = out.message(proto::ftrace_stats::kCpuStats);
  out.varint(proto::ftrace_stats::kCpu, cpu.cpu);
  out.varint(proto::ftrace_stats::kEntries, cpu.stats.entries);
  out.varint(proto::ftrace_stats::kOverrun, cpu.stats.overrun);
  out.varint(proto::ftrace_stats::kCommitOverrun, cpu.stats.commit_overrun);
  out.varint(proto::ftrace_stats::kBytesRead, cpu.stats.bytes);
  out.varint(proto::ftrace_stats::kDroppedEvents, cpu.stats.dropped_events);
  out.varint(proto::ftrace_stats::kReadEvents, cpu.stats.read_events);
}

}  // namespace

CpuStats parse_cpu_stats(std::string_view text) {
  return {.entries = count_after(text, "entries: "),
          .overrun = count_after(text, "overrun: "),
          .commit_overrun = count_after(text, "commit overrun: "),
          .bytes = count_after(text, "bytes: "),
          .dropped_events = count_after(text, "dropped events: "),
          .read_events = count_after(text, "read events: ")};
}

void write_system_info(std::uint32_t sequence_id, std::uint64_t timestamp_ns, ProtoWriter& out) {
  const auto packet = out.message(proto::trace::kPacket);
  out.varint(proto::packet::kTimestamp, timestamp_ns);
  out.varint(proto::packet::kSequenceId, sequence_id);
  const auto info = out.message(proto::packet::kSystemInfo);
  if (utsname names{}; ::uname(&names) == 0) {
    const auto message = out.message(proto::system_info::kUtsname);
    out.text(proto::system_info::kSysname, names.sysname);
    out.text(proto::system_info::kVersion, names.version);
    out.text(proto::system_info::kRelease, names.release);
    out.text(proto::system_info::kMachine, names.machine);
  }
  out.integer(proto::system_info::kPageSize, ::sysconf(_SC_PAGESIZE));
  out.integer(proto::system_info::kNumCpus, ::sysconf(_SC_NPROCESSORS_CONF));
}

void write_ftrace_stats(StatsPhase phase, std::span<const NumberedCpuStats> cpus, std::uint32_t sequence_id,
                        std::uint64_t timestamp_ns, ProtoWriter& out) {
  const auto packet = out.message(proto::trace::kPacket);
  out.varint(proto::packet::kTimestamp, timestamp_ns);
  out.varint(proto::packet::kSequenceId, sequence_id);
  const auto stats = out.message(proto::packet::kFtraceStats);
  out.integer(proto::ftrace_stats::kPhase, phase == StatsPhase::kStart ? proto::ftrace_stats::kStartOfTrace
                                                                       : proto::ftrace_stats::kEndOfTrace);
  for (const NumberedCpuStats& cpu : cpus) write_cpu_stats(cpu, out);
}

}  // namespace unjank::ftrace
