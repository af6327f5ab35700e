// Core to core: how long one CPU takes to get a cache line that another has just written.
//
// Two threads, each bound to a CPU, raise one counter in turn by compare-and-swap: the first makes it odd, the second even.
// The line lies on a page of its own, fresh for each measurement and first touched by a CPU of choice, which decides
// on the memory it comes from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/counters.h"

namespace unjank::bench {

struct CorePairCase {
  int first = 0;
  int second = 0;
  int home = 0;                  // the CPU that touches the page first
  std::size_t round_trips = 500; // of each sample
  std::size_t samples = 5;
  std::int64_t patience_ns = 200'000'000;  // two threads that never run at once would take turns for ever
};

struct CorePair {
  std::vector<double> one_way_ns;      // of each sample: half a round trip
  std::uint64_t exchanges = 0;         // successful compare-and-swaps that the counter shows
  std::uint64_t exchanges_wanted = 0;
  std::int64_t node = kUnknown;        // the page's memory node
  Side first;
  Side second;
};

// Throws std::system_error where a CPU is not allowed or there is no memory. Out of patience: fewer exchanges than wanted.
CorePair core_pair(const CorePairCase& what);

}  // namespace unjank::bench
