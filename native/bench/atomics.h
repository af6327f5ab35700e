// Several threads count at once: under a lock, by a compare-and-swap loop, by fetch-add; on one counter or on their own.
//
// ARM64 has two ways to do the latter two: load-exclusive/store-exclusive loops (LL/SC, all of them) and single
// instructions (LSE, since ARMv8.1). Both are compiled in there, from the same source, so that one run compares them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "bench/counters.h"

namespace unjank::bench {

enum class Operation { kLock, kCasLoop, kFetchAdd };

enum class Layout {
  kShared,  // one counter for all
  kPacked,  // a counter each, side by side: neighbours are in one cache line
  kPadded,  // a counter each, on lines of its own
};

enum class Instructions {
  kNative,  // what this machine has, where it has one way
  kLlSc,
  kLse,
};

struct AtomicsCase {
  Operation operation = Operation::kFetchAdd;
  Layout layout = Layout::kShared;
  Instructions instructions = Instructions::kNative;
  std::vector<int> cpus;  // one for each thread; -1 leaves it to the scheduler
  std::int64_t duration_ns = 20'000'000;
};

// One thread.
struct Tally {
  std::int64_t wall_ns = 0;
  std::uint64_t operations = 0;
  std::uint64_t retries = 0;  // compare-and-swaps that another thread had beaten
  Side side;
};

struct Atomics {
  std::uint64_t counted = 0;  // what all counters add up to: as many as there were operations
  std::vector<Tally> threads;
};

// Throws std::system_error where a CPU is not allowed, std::invalid_argument where these instructions are not there.
Atomics count_at_once(const AtomicsCase& what);

// The instructions that this build has and this CPU can execute.
std::vector<Instructions> available_instructions();

std::string_view name_of(Operation operation);
std::string_view name_of(Layout layout);
std::string_view name_of(Instructions instructions);

}  // namespace unjank::bench
