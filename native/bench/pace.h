// Work that no compiler leaves out and that touches no memory; and how fast a CPU does it, which its clock alone decides.
#pragma once

#include <cstdint>

namespace unjank::bench {

// Each step needs the one before: some cycles each, whatever else the core could do beside.
inline void chain(std::uint64_t& state, unsigned steps) noexcept {
  for (unsigned i = 0; i < steps; ++i) state = state * 6364136223846793005u + 1442695040888963407u;
  asm volatile("" : "+r"(state));
}

// Nanoseconds of a step on a CPU that has been kept busy for some milliseconds: the shortest of many short samples, so that
// others that take the CPU in between do not count. Throws std::system_error where the CPU is not allowed.
double step_ns(int cpu);

}  // namespace unjank::bench
