// Compiled with the flags of one set of instructions, which UNJANK_KERNELS names.
//
// The compiler's builtins instead of std::atomic: an inline function of a header, compiled twice with different
// instructions, would be one function after linking.
#include "bench/atomics_kernels.h"

namespace unjank::bench {

namespace {

std::uint64_t cas_loop(std::uint64_t& counter, unsigned times) {
  std::uint64_t retries = 0;
  for (unsigned i = 0; i < times; ++i) {
    std::uint64_t seen = __atomic_load_n(&counter, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&counter, &seen, seen + 1, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) ++retries;
  }
  return retries;
}

std::uint64_t fetch_add(std::uint64_t& counter, unsigned times) {
  for (unsigned i = 0; i < times; ++i) __atomic_fetch_add(&counter, 1, __ATOMIC_ACQ_REL);
  return 0;
}

}  // namespace

const AtomicKernels UNJANK_KERNELS{&cas_loop, &fetch_add};

}  // namespace unjank::bench
