// The benchmarks measure something, on both queues and at small sizes. No claims about speed here.
#include "bench/queue_bench.h"

#include <sched.h>

#include <algorithm>
#include <system_error>

#include "bench/heap_bench.h"
#include "doctest/doctest.h"

namespace unjank::bench {

TEST_CASE("every queue measurement returns a time") {
  for (const QueueKind queue : {QueueKind::kDeliqueue, QueueKind::kLegacy}) {
    for (const DuePattern pattern : {DuePattern::kRandom, DuePattern::kIncreasing, DuePattern::kEqual}) {
      CHECK(insert_ns({queue, 2, 100, 50, pattern}) > 0);
    }
    CHECK(dispatch_ns({queue, 100, 50}) > 0);
    for (const bool by_handle : {false, true}) CHECK(remove_ns({queue, 100, 300, by_handle}) > 0);
  }
  CHECK(plain_dispatch_ns(100, 50) > 0);
}

TEST_CASE("a round trip is timed once per round, pinned or not") {
  const int here = sched_getcpu();
  for (const Placement placement : {Placement{}, Placement{here, here}}) {
    const auto bare = eventfd_round_trips(50, placement);
    CHECK(bare.size() == 50);
    CHECK(std::all_of(bare.begin(), bare.end(), [](auto ns) { return ns > 0; }));
    for (const QueueKind queue : {QueueKind::kDeliqueue, QueueKind::kLegacy}) {
      const auto trips = looper_round_trips(queue, 50, placement);
      CHECK(trips.size() == 50);
      CHECK(std::all_of(trips.begin(), trips.end(), [](auto ns) { return ns > 0; }));
    }
  }
}

TEST_CASE("a CPU that does not exist is an error, not a wrong number") {
  CHECK_THROWS_AS(eventfd_round_trips(1, {1'000, 1'000}), std::system_error);
  CHECK_THROWS_AS(looper_round_trips(QueueKind::kDeliqueue, 1, {1'000, 1'000}), std::system_error);
}

TEST_CASE("both comparators are timed") {
  for (const Comparator comparator : {Comparator::kBranchless, Comparator::kBranchy}) {
    const HeapTimes times = heap_times({comparator, 100, true});
    CHECK(times.hold_ns > 0);
    CHECK(times.drain_ns > 0);
  }
}

// What a dispatch costs without the machine's caches: the time it takes grows by their misses as well.
TEST_CASE("comparisons of a dispatch grow with the logarithm of the backlog") {
  const double few = comparisons_per_hold(1'000, 10'000);
  const double many = comparisons_per_hold(1'000'000, 10'000);
  CHECK(few > 8);
  CHECK(many / few < 2.2);  // log 10^6 / log 10^3 is 2
}

}  // namespace unjank::bench
