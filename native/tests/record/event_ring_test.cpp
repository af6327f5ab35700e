// The ring on one thread: what is taken, what is dropped, and that slices nest whatever is dropped.
#include "record/event_ring.h"

#include <doctest/doctest.h>

#include <random>
#include <vector>

namespace unjank::record {

namespace {

constexpr std::size_t kCells = 8;
using SmallRing = EventRing<StdPolicy, kCells>;

Event begin(std::int64_t ts) { return event_at(EventKind::kWaitBegin, ts); }
Event end(std::int64_t ts) { return event_at(EventKind::kEnd, ts); }
Event post(std::int64_t ts) { return event_at(EventKind::kPost, ts); }

std::vector<Event> drained(SmallRing& ring) {
  std::vector<Event> events;
  ring.drain([&](const Event& event) { events.push_back(event); });
  return events;
}

/// How deep the slices are open after these events; -1 once an end has no begin.
int depth_after(const std::vector<Event>& events, int depth) {
  for (const Event& event : events) {
    depth += event.kind == EventKind::kEnd ? -1 : 1;
    if (depth < 0) return -1;
  }
  return depth;
}

}  // namespace

TEST_CASE("events come out in order, once, over many laps") {
  SmallRing ring;
  std::int64_t pushed = 0;
  std::int64_t expected = 0;
  for (int lap = 0; lap < 100; ++lap) {
    for (int pair = 0; pair < 3; ++pair) {
      CHECK(ring.push_begin(begin(pushed++)) != 0);
      CHECK(ring.push_end(end(pushed++)) != 0);
    }
    for (const Event& event : drained(ring)) CHECK(event.ts_ns == expected++);
  }
  CHECK(expected == 600);
  CHECK(ring.take_dropped() == 0);
}

TEST_CASE("push tells how full the ring is") {
  SmallRing ring;
  CHECK(ring.push_begin(begin(1)) == 1);
  CHECK(ring.push_end(end(2)) == 2);
  drained(ring);
  CHECK(ring.push_begin(begin(3)) == 1);
}

TEST_CASE("a full ring drops begins with their ends and counts each once") {
  SmallRing ring;
  for (int pair = 0; pair < 10; ++pair) {
    ring.push_begin(begin(pair));
    ring.push_end(end(pair));
  }
  CHECK(drained(ring).size() == kCells);
  CHECK(ring.take_dropped() == 10 - kCells / 2);
  CHECK(ring.take_dropped() == 0);
}

TEST_CASE("each begin that is taken has room for its end, however deep") {
  SmallRing ring;
  for (int depth = 0; depth < 10; ++depth) ring.push_begin(begin(depth));
  for (int depth = 0; depth < 10; ++depth) ring.push_end(end(depth));
  const std::vector<Event> events = drained(ring);
  CHECK(events.size() == kCells);
  CHECK(depth_after(events, 0) == 0);
  CHECK(ring.take_dropped() == 10 - kCells / 2);
}

TEST_CASE("single events leave room for the ends that are owed, and are counted where they find none") {
  SmallRing ring;
  ring.push_begin(begin(0));
  ring.push_begin(begin(1));
  for (int i = 0; i < 10; ++i) ring.push(post(2));
  CHECK(ring.push_end(end(3)) != 0);
  CHECK(ring.push_end(end(4)) != 0);
  CHECK(drained(ring).size() == kCells);
  CHECK(ring.take_dropped() == 10 - (kCells - 4));
}

TEST_CASE("nothing is taken inside a dropped begin, even when there is room again") {
  SmallRing ring;
  for (int depth = 0; depth < 5; ++depth) ring.push_begin(begin(depth));  // the fifth is dropped
  drained(ring);
  CHECK(ring.push_begin(begin(5)) == 0);
  CHECK(ring.push_end(end(5)) == 0);
  CHECK(ring.push_end(end(4)) == 0);
  CHECK(ring.push_begin(begin(6)) != 0);
  CHECK(ring.take_dropped() == 2);
}

TEST_CASE("whatever is pushed and drained when, slices nest and nothing but what is counted is lost") {
  std::mt19937 random(1);
  SmallRing ring;
  int open = 0;
  int written_depth = 0;
  std::uint64_t begins = 0;
  std::uint64_t begins_out = 0;
  for (int step = 0; step < 100'000; ++step) {
    const auto choice = random() % 8;
    if (choice < 4 && open < 12) {
      ring.push_begin(begin(step));
      ++open, ++begins;
    } else if (choice < 7 && open > 0) {
      ring.push_end(end(step));
      --open;
    } else {
      const std::vector<Event> events = drained(ring);
      for (const Event& event : events) begins_out += event.kind == EventKind::kWaitBegin;
      written_depth = depth_after(events, written_depth);
      REQUIRE(written_depth >= 0);
    }
  }
  for (; open > 0; --open) ring.push_end(end(0));
  const std::vector<Event> events = drained(ring);
  for (const Event& event : events) begins_out += event.kind == EventKind::kWaitBegin;
  CHECK(depth_after(events, written_depth) == 0);
  CHECK(begins_out + ring.take_dropped() == begins);
}

}  // namespace unjank::record
