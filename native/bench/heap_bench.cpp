#include "bench/heap_bench.h"

#include <random>

#include "base/clock.h"
#include "deliqueue/heap.h"

namespace unjank::bench {

namespace {

template <class Before>
class HeapRun {
 public:
  explicit HeapRun(const HeapCase& what) : spread_(what.few_due_times ? 4 : 1'000'000'000) {
    positions_.resize(what.size);
    for (std::size_t i = 0; i < what.size; ++i) heap_.push(later_than(0), static_cast<deliqueue::Slot>(i));
  }

  double hold(std::size_t operations) {
    std::vector<std::int64_t> delays(operations);
    for (std::int64_t& delay : delays) delay = static_cast<std::int64_t>(random_() % (2 * spread_));
    const std::int64_t start = clock_.now_ns();
    for (const std::int64_t delay : delays) {
      const std::int64_t when = heap_.head().when;
      const deliqueue::Slot slot = heap_.pop();
      heap_.push({when + delay, ++sequence_}, slot);
    }
    return since(start, operations);
  }

  double drain() {
    const std::size_t size = heap_.size();
    const std::int64_t start = clock_.now_ns();
    while (!heap_.empty()) heap_.pop();
    return since(start, size);
  }

 private:
  deliqueue::Key later_than(std::int64_t when) {
    return {when + static_cast<std::int64_t>(random_() % spread_), ++sequence_};
  }
  double since(std::int64_t start, std::size_t operations) const {
    return static_cast<double>(clock_.now_ns() - start) / static_cast<double>(operations);
  }

  MonotonicClock clock_;
  std::mt19937_64 random_{1};
  std::uint64_t spread_;
  std::int32_t sequence_ = 0;
  deliqueue::Positions positions_;
  deliqueue::Heap<Before> heap_{positions_};
};

struct CountingBefore {
  static inline std::size_t count = 0;
  template <class A, class B>
  static bool before(const A& a, const B& b) {
    ++count;
    return deliqueue::BranchlessBefore::before(a, b);
  }
  static std::size_t lesser(const deliqueue::HeapEntry* entries, std::size_t i, std::size_t j) {
    return before(entries[j], entries[i]) ? j : i;
  }
};

template <class Before>
HeapTimes measure(const HeapCase& what) {
  HeapRun<Before> run(what);
  run.hold(what.operations);  // warms up: caches, and the distribution settles
  const double hold = run.hold(what.operations);
  return {hold, run.drain()};
}

}  // namespace

HeapTimes heap_times(const HeapCase& what) {
  return what.comparator == Comparator::kBranchless ? measure<deliqueue::BranchlessBefore>(what)
                                                    : measure<deliqueue::BranchyBefore>(what);
}

double comparisons_per_hold(std::size_t size, std::size_t holds) {
  HeapRun<CountingBefore> run({.size = size});
  CountingBefore::count = 0;
  run.hold(holds);
  return static_cast<double>(CountingBefore::count) / static_cast<double>(holds);
}

}  // namespace unjank::bench
