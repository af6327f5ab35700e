// The loops that are measured, once for each set of instructions: atomics_kernels.cpp is compiled as often.
#pragma once

#include <cstdint>

namespace unjank::bench {

// Both add 1 to the counter `times` times, and answer how often they had to try again.
struct AtomicKernels {
  std::uint64_t (*cas_loop)(std::uint64_t& counter, unsigned times);
  std::uint64_t (*fetch_add)(std::uint64_t& counter, unsigned times);
};

#ifdef UNJANK_ATOMICS_ARM64
extern const AtomicKernels kLlScKernels;
extern const AtomicKernels kLseKernels;
#else
extern const AtomicKernels kNativeKernels;
#endif

}  // namespace unjank::bench
