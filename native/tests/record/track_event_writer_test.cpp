// Packets read back: interned ids are told once and before use, and start anew when they have grown too many.
#include "record/track_event_writer.h"

#include <doctest/doctest.h>

#include "tests/record/trace_reader.h"

namespace unjank::record {

namespace {

TrackEvent slice(TrackEventWriter& writer, const std::string& name, const std::string& text) {
  TrackEvent event;
  event.type = TrackEvent::kSliceBegin;
  event.ts_ns = 5;
  event.track = 3;
  event.category = Category::kLock;
  event.name = writer.event_name(name);
  event.arguments = {{1, false, 42}, {2, true, writer.text(text)}, {writer.key("late"), false, 7}};
  return event;
}

}  // namespace

TEST_CASE("an event is read back as it was written") {
  TrackEventWriter writer(9, {"number", "text"});
  writer.write(slice(writer, "held", "why"));
  const test::ReadTrace trace = test::read_trace(writer.bytes());
  REQUIRE(trace.events.size() == 1);
  const test::ReadEvent& event = trace.events[0];
  CHECK(event.sequence == 9);
  CHECK(event.type == test::ReadEvent::kBegin);
  CHECK(event.ts_ns == 5);
  CHECK(event.track == 3);
  CHECK(event.category == "lock");
  CHECK(event.name == "held");
  CHECK(event.arguments == std::map<std::string, std::string>{{"number", "42"}, {"text", "why"}, {"late", "7"}});
}

TEST_CASE("the state is cleared once, at the sequence's first packet") {
  TrackEventWriter writer(9, {"number", "text"});
  for (int i = 0; i < 3; ++i) writer.write(slice(writer, "held", "why"));
  const test::ReadTrace trace = test::read_trace(writer.bytes());
  CHECK(trace.states_cleared == 1);
  CHECK(trace.events[2].name == "held");
}

TEST_CASE("an end carries neither name nor category") {
  TrackEventWriter writer(9, {});
  TrackEvent end;
  end.type = TrackEvent::kSliceEnd;
  end.track = 3;
  writer.write(end);
  const test::ReadTrace trace = test::read_trace(writer.bytes());
  CHECK(trace.events[0].type == test::ReadEvent::kEnd);
  CHECK(trace.events[0].name.empty());
  CHECK(trace.events[0].category.empty());
}

TEST_CASE("processes and threads are described") {
  TrackEventWriter writer(9, {});
  writer.describe_process(1, 2, 100, "bank.py", {"bank.py", "--fast"});
  writer.describe_thread(1, 3, 2, 100, 101, "teller");
  const test::ReadTrace trace = test::read_trace(writer.bytes());
  CHECK(trace.processes.at(2) == "bank.py");
  CHECK(trace.threads.at(3).tid == 101);
  CHECK(trace.threads.at(3).pid == 100);
  CHECK(trace.threads.at(3).name == "teller");
}

TEST_CASE("interned texts start anew when they take too much memory, and what follows is told again") {
  TrackEventWriter writer(9, {"number", "text"});
  const std::string large(1 << 20, 'x');
  int restarts = 0;
  std::string bytes;
  for (int i = 0; i < 50; ++i) {
    restarts += writer.limit_interned_state();
    writer.write(slice(writer, "held", large + std::to_string(i)));
    bytes.append(reinterpret_cast<const char*>(writer.bytes().data()), writer.size());
    writer.clear();
  }
  CHECK(restarts >= 2);
  const test::ReadTrace trace = test::read_trace(bytes);
  CHECK(trace.states_cleared == static_cast<std::size_t>(restarts) + 1);
  CHECK(trace.events.size() == 50);
  CHECK(trace.events[49].name == "held");
  CHECK(trace.events[49].argument("text") == large + "49");
}

}  // namespace unjank::record
