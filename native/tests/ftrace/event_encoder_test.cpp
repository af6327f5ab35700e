#include "ftrace/event_encoder.h"

#include <doctest/doctest.h>

#include "event_builder.h"
#include "ftrace/trace_fields.h"
#include "proto_reader.h"

using namespace unjank::ftrace;
using namespace unjank::ftrace::testing;
using unjank::ProtoWriter;
using Result = EventEncoder::Result;

TEST_CASE("a switch keeps names, ids, priorities, state and time") {
  EventEncoder encoder;
  REQUIRE(encoder.add(switch_format()));
  const RecordBuilder record = switch_record(41, 42);
  ProtoWriter out;
  REQUIRE(encoder.encode({1234, record.bytes()}, 2, out) == Result::kEncoded);

  const Bytes event = first(out.view(), 2).bytes;
  CHECK(first(event, proto::event::kTimestamp).value == 1234);
  CHECK(first(event, proto::event::kPid).value == 41);
  const Bytes body = first(event, proto::event::kSchedSwitch).bytes;
  CHECK(first(body, proto::sched_switch::kPrevComm).text() == "waiter");
  CHECK(first(body, proto::sched_switch::kPrevPid).value == 41);
  CHECK(first(body, proto::sched_switch::kPrevPrio).value == 120);
  CHECK(first(body, proto::sched_switch::kPrevState).value == 1);
  CHECK(first(body, proto::sched_switch::kNextComm).text() == "owner");
  CHECK(first(body, proto::sched_switch::kNextPid).value == 42);
  CHECK(first(body, proto::sched_switch::kNextPrio).value == 139);
}

TEST_CASE("text that fills its array has no terminator and is kept whole") {
  EventEncoder encoder;
  REQUIRE(encoder.add(switch_format()));
  RecordBuilder record = switch_record(1, 2);
  record.text(8, "sixteen letters!", 16);
  ProtoWriter out;
  REQUIRE(encoder.encode({0, record.bytes()}, 2, out) == Result::kEncoded);
  const Bytes body = first(first(out.view(), 2).bytes, proto::event::kSchedSwitch).bytes;
  CHECK(first(body, proto::sched_switch::kPrevComm).text() == "sixteen letters!");
}

TEST_CASE("text elsewhere in the record is found from its start or from the field's end") {
  for (const auto& [kind, offset] : {std::pair{"__data_loc", 16u}, {"__rel_loc", 4u}}) {
    EventEncoder encoder;
    REQUIRE(encoder.add(exit_format(kind)));
    RecordBuilder record(369, 7);
    record.put(8, std::uint32_t{5 << 16 | offset}).put(12, std::int32_t{7}).text(16, "gone", 8);
    ProtoWriter out;
    REQUIRE(encoder.encode({0, record.bytes()}, 2, out) == Result::kEncoded);
    const Bytes body = first(first(out.view(), 2).bytes, proto::event::kSchedProcessExit).bytes;
    CHECK(first(body, proto::sched_process_exit::kComm).text() == "gone");
    CHECK(first(body, proto::sched_process_exit::kPid).value == 7);
  }
}

TEST_CASE("indirect text that points outside of the record is cut, not read") {
  EventEncoder encoder;
  REQUIRE(encoder.add(exit_format()));
  for (const std::uint32_t word : {0xffffffffu, 100u << 16 | 14u, 1u << 16 | 500u}) {
    RecordBuilder record(369, 7);
    record.put(8, word).put(12, std::int32_t{7});
    ProtoWriter out;
    CHECK(encoder.encode({0, record.bytes()}, 2, out) == Result::kEncoded);
    const Bytes body = first(first(out.view(), 2).bytes, proto::event::kSchedProcessExit).bytes;
    CHECK(first(body, proto::sched_process_exit::kComm).bytes.size() <= 2);
  }
}

TEST_CASE("a record of an event that was not asked for is not encoded") {
  EventEncoder encoder;
  REQUIRE(encoder.add(switch_format()));
  ProtoWriter out;
  CHECK(encoder.encode({0, RecordBuilder(9, 1).bytes()}, 2, out) == Result::kUnknownEvent);
  CHECK(out.empty());
}

TEST_CASE("a record shorter than its format is not encoded, at any length") {
  EventEncoder encoder;
  REQUIRE(encoder.add(switch_format()));
  const RecordBuilder record = switch_record(1, 2);
  for (std::size_t size = 0; size < record.bytes().size(); ++size) {
    ProtoWriter out;
    CHECK(encoder.encode({0, Bytes(record.bytes()).first(size)}, 2, out) == Result::kTooShort);
    CHECK(out.empty());
  }
}

TEST_CASE("an event without a field it needs is refused, one without a name is taken") {
  EventFormat format = switch_format();
  std::erase_if(format.fields, [](const FieldLayout& field) { return field.name == "next_comm"; });
  CHECK(EventEncoder().add(format));
  std::erase_if(format.fields, [](const FieldLayout& field) { return field.name == "next_pid"; });
  CHECK_FALSE(EventEncoder().add(format));
}

TEST_CASE("an event nobody knows is refused") {
  EventFormat format = switch_format();
  format.name = "sched_else";
  CHECK_FALSE(EventEncoder().add(format));
}
