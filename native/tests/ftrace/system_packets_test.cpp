#include "ftrace/system_packets.h"

#include <doctest/doctest.h>
#include <sys/utsname.h>

#include "ftrace/trace_fields.h"
#include "proto_reader.h"

using namespace unjank::ftrace;
using namespace unjank::ftrace::testing;
using unjank::ProtoWriter;

TEST_CASE("the ring's own counts are read, overrun apart from commit overrun") {
  const CpuStats stats = parse_cpu_stats(
      "entries: 1\noverrun: 20\ncommit overrun: 3\nbytes: 400\noldest event ts:  1527.3\nnow ts:  1528.0\n"
      "dropped events: 5\nread events: 6\n");
  CHECK(stats.entries == 1);
  CHECK(stats.overrun == 20);
  CHECK(stats.commit_overrun == 3);
  CHECK(stats.bytes == 400);
  CHECK(stats.dropped_events == 5);
  CHECK(stats.read_events == 6);
  CHECK(stats.lost() == 28);
}

TEST_CASE("counts that a kernel does not give are zero") {
  CHECK(parse_cpu_stats("").lost() == 0);
  CHECK(parse_cpu_stats("overrun: many\n").overrun == 0);
}

TEST_CASE("the system packet names this kernel's release") {
  ProtoWriter out;
  write_system_info(9, 123, out);
  const Bytes packet = first(out.view(), proto::trace::kPacket).bytes;
  CHECK(first(packet, proto::packet::kTimestamp).value == 123);
  CHECK(first(packet, proto::packet::kSequenceId).value == 9);
  const Bytes names = first(first(packet, proto::packet::kSystemInfo).bytes, proto::system_info::kUtsname).bytes;
  utsname expected{};
  REQUIRE(::uname(&expected) == 0);
  CHECK(first(names, proto::system_info::kRelease).text() == expected.release);
}

TEST_CASE("ring statistics carry their phase and each CPU's counts") {
  ProtoWriter out;
  const NumberedCpuStats cpus[] = {{.cpu = 0, .stats = {}}, {.cpu = 4, .stats = {.overrun = 7}}};
  write_ftrace_stats(StatsPhase::kEnd, cpus, 9, 1, out);
  const Bytes packet = first(out.view(), proto::trace::kPacket).bytes;
  const Bytes stats = first(packet, proto::packet::kFtraceStats).bytes;
  CHECK(first(stats, proto::ftrace_stats::kPhase).value == proto::ftrace_stats::kEndOfTrace);
  const auto written = all(stats, proto::ftrace_stats::kCpuStats);
  REQUIRE(written.size() == 2);
  CHECK(first(written[1].bytes, proto::ftrace_stats::kCpu).value == 4);
  CHECK(first(written[1].bytes, proto::ftrace_stats::kOverrun).value == 7);
}
