// The heap's two comparators against each other: the same heap, the same keys.
#pragma once

#include <cstddef>

namespace unjank::bench {

enum class Comparator { kBranchless, kBranchy };

struct HeapCase {
  Comparator comparator = Comparator::kBranchless;
  std::size_t size = 10'000;
  bool few_due_times = false;  // most comparisons fall to the sequence number
  std::size_t operations = 100'000;  // timed by hold_ns, after as many to warm up
};

struct HeapTimes {
  double hold_ns;   // pop the head, push it again for later: a looper in steady state
  double drain_ns;  // pop until nothing is left: a backlog worked off
};
HeapTimes heap_times(const HeapCase& what);

// Comparisons to pop the head and push it again for later: what grows with the size alone, whatever the caches.
double comparisons_per_hold(std::size_t size, std::size_t holds);

}  // namespace unjank::bench
