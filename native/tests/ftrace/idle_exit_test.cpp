#include "ftrace/idle_exit.h"

#include <doctest/doctest.h>

#include "event_builder.h"
#include "ftrace/trace_fields.h"
#include "proto_reader.h"

using namespace unjank::ftrace;
using namespace unjank::ftrace::testing;
using unjank::ProtoWriter;

namespace {

SchedLayout layout() {
  SchedLayout layout;
  layout.learn(switch_format());
  return layout;
}

// One CPU, told of switches one by one.
class Cpu {
 public:
  std::optional<std::uint64_t> switches(std::uint64_t time_ns, std::int32_t prev, std::int32_t next) {
    const RecordBuilder record = switch_record(prev, next);
    const auto exit = exits.see({time_ns, record.bytes()}, layout_, wakings);
    if (!exit) return std::nullopt;
    CHECK(exit->revealed_by.prev_pid == prev);
    return exit->time_ns;
  }

  WakingLog wakings;
  IdleExits exits;

 private:
  SchedLayout layout_ = layout();
};

}  // namespace

TEST_CASE("where each switch is reported nothing is inferred") {
  Cpu cpu;
  for (std::uint64_t time = 0; time < 100; time += 10) {
    CHECK_FALSE(cpu.switches(time, 0, 7));
    CHECK_FALSE(cpu.switches(time + 5, 7, 0));
  }
  CHECK(cpu.exits.unexplained() == 0);
}

TEST_CASE("a thread that leaves a CPU believed idle has run since it was woken") {
  Cpu cpu;
  cpu.wakings.note(7, 130);
  cpu.wakings.note(8, 140);
  cpu.wakings.end_round();
  CHECK_FALSE(cpu.switches(100, 7, 0));
  CHECK(cpu.switches(200, 7, 0) == 131);
  CHECK(cpu.exits.unexplained() == 0);
}

TEST_CASE("the last wake-up before the switch counts, not those after it") {
  Cpu cpu;
  for (const std::uint64_t time : {110, 130, 250}) cpu.wakings.note(7, time);
  cpu.wakings.end_round();
  cpu.switches(100, 7, 0);
  CHECK(cpu.switches(200, 7, 0) == 131);
}

TEST_CASE("a wake-up read in the round before is still known, an older one is not") {
  Cpu cpu;
  cpu.wakings.note(7, 130);
  cpu.wakings.end_round();
  cpu.wakings.begin_round();
  cpu.wakings.end_round();
  CHECK(cpu.wakings.find(7, 100, 200) == 130);
  cpu.wakings.begin_round();
  cpu.wakings.end_round();
  CHECK_FALSE(cpu.wakings.find(7, 100, 200));
}

TEST_CASE("without a wake-up while the CPU was idle the gap stays and is counted") {
  Cpu cpu;
  cpu.wakings.note(7, 90);
  cpu.wakings.end_round();
  cpu.switches(100, 7, 0);
  CHECK_FALSE(cpu.switches(200, 7, 0));
  CHECK(cpu.exits.unexplained() == 1);
}

TEST_CASE("only the idle thread's leaving is inferred") {
  Cpu cpu;
  cpu.wakings.note(7, 130);
  cpu.wakings.end_round();
  cpu.switches(100, 7, 9);
  CHECK_FALSE(cpu.switches(200, 7, 0));
  CHECK(cpu.exits.unexplained() == 1);
}

TEST_CASE("after lost events nothing is believed") {
  Cpu cpu;
  cpu.wakings.note(7, 130);
  cpu.wakings.end_round();
  cpu.switches(100, 7, 0);
  cpu.exits.forget();
  CHECK_FALSE(cpu.switches(200, 7, 0));
  CHECK(cpu.exits.unexplained() == 0);
}

TEST_CASE("records of other events and cut ones are passed over") {
  Cpu cpu;
  const RecordBuilder other(9, 7), full = switch_record(7, 0);
  CHECK_FALSE(cpu.exits.see({1, other.bytes()}, layout(), cpu.wakings));
  for (std::size_t size = 0; size < 60; ++size)
    CHECK_FALSE(cpu.exits.see({1, Bytes(full.bytes()).first(size)}, layout(), cpu.wakings));
  CHECK_FALSE(cpu.exits.see({1, {}}, SchedLayout(), cpu.wakings));
}

TEST_CASE("an inferred switch is written as the kernel would have reported it") {
  const RecordBuilder record = switch_record(7, 0);
  ProtoWriter out;
  write_idle_exit({131, *layout().as_switch(record.bytes())}, 3, 2, out);
  const Bytes event = first(out.view(), 2).bytes;
  CHECK(first(event, proto::event::kTimestamp).value == 131);
  const Bytes body = first(event, proto::event::kSchedSwitch).bytes;
  CHECK(first(body, proto::sched_switch::kPrevComm).text() == "swapper/3");
  CHECK(first(body, proto::sched_switch::kPrevPid).value == 0);
  CHECK(first(body, proto::sched_switch::kNextComm).text() == "waiter");
  CHECK(first(body, proto::sched_switch::kNextPid).value == 7);
  CHECK(first(body, proto::sched_switch::kNextPrio).value == 120);
}

TEST_CASE("wake-ups are told by their format") {
  const auto waking = parse_event_format("name: sched_waking\nID: 375\nformat:\n" + std::string(kCommonFields) +
                                         "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n");
  REQUIRE(waking);
  SchedLayout sched;
  sched.learn(*waking);
  RecordBuilder record(375, 1);
  record.put(24, std::int32_t{42});
  CHECK(sched.woken_pid(record.bytes()) == 42);
  CHECK_FALSE(sched.woken_pid(switch_record(1, 2).bytes()));
  CHECK_FALSE(sched.woken_pid(Bytes(record.bytes()).first(20)));
}
