// The shipped ring under every schedule within the bounds: no cell is read before it is written, none reused before
// it is read, nothing but what is counted is lost.
#include <doctest/doctest.h>

#include "record/event_ring.h"
#include "tests/record/model_checks.h"
#include "tests/model/memory.h"

namespace unjank::model {

namespace {

using record::Event;
using record::EventKind;
using record::EventRingOrders;

template <class O>
struct World {
  record::EventRing<Policy, 2, O> ring;
  std::vector<std::int64_t> read;
  std::size_t taken = 0;

  void push_pair(std::int64_t ts) {
    taken += ring.push_begin(event_at(EventKind::kWaitBegin, ts)) != 0;
    ring.push_end(event_at(EventKind::kEnd, ts));
  }
  void drain() {
    ring.drain([this](const Event& event) { read.push_back(event.ts_ns); });
  }
};

template <class O>
Outcome push_races_drain() {
  return explore({.preemptions = 4, .stale_reads = 2}, [](Execution& run) {
    auto w = std::make_shared<World<O>>();
    run.keep(w);
    run.spawn([w] { w->push_pair(1), w->push_pair(2), w->push_pair(3); });
    run.spawn([w] { w->drain(), w->drain(), w->drain(); });
    run.finally([w, &run] {
      w->drain();
      run.require(w->read.size() == 2 * w->taken, "an event was lost or doubled");
      run.require(w->taken + w->ring.take_dropped() == 3, "a drop was not counted");
      for (std::size_t i = 1; i < w->read.size(); ++i) run.require(w->read[i - 1] <= w->read[i], "out of order");
      for (std::size_t i = 1; i < w->read.size(); i += 2) run.require(w->read[i - 1] == w->read[i], "a begin without its end");
    });
  });
}

struct PublishRelaxed : EventRingOrders { static constexpr auto kPublish = std::memory_order_relaxed; };
struct FilledRelaxed : EventRingOrders { static constexpr auto kFilled = std::memory_order_relaxed; };
struct FreeUpRelaxed : EventRingOrders { static constexpr auto kFreeUp = std::memory_order_relaxed; };
struct FreedRelaxed : EventRingOrders { static constexpr auto kFreed = std::memory_order_relaxed; };

}  // namespace

TEST_CASE("push races drain") {
  CHECK_HOLDS(push_races_drain<EventRingOrders>());
  CHECK_CAUGHT(push_races_drain<PublishRelaxed>());
  CHECK_CAUGHT(push_races_drain<FilledRelaxed>());
  CHECK_CAUGHT(push_races_drain<FreeUpRelaxed>());
  CHECK_CAUGHT(push_races_drain<FreedRelaxed>());
}

}  // namespace unjank::model
