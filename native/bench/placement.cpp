#include "bench/placement.h"

#include <sched.h>

#include <array>
#include <cerrno>
#include <climits>
#include <system_error>

namespace unjank::bench {

namespace {

// cpu_set_t ends at 1024 CPUs, and the kernel of a larger machine refuses to write its mask there.
class CpuMask {
 public:
  void add(int cpu) { words_[word(cpu)] |= bit(cpu); }
  bool has(int cpu) const { return (words_[word(cpu)] & bit(cpu)) != 0; }
  cpu_set_t* as_set() { return reinterpret_cast<cpu_set_t*>(words_.data()); }
  static constexpr std::size_t size() { return sizeof words_; }

 private:
  static constexpr int kBits = sizeof(unsigned long) * CHAR_BIT;
  static std::size_t word(int cpu) { return static_cast<std::size_t>(cpu / kBits); }
  static unsigned long bit(int cpu) { return 1ul << (cpu % kBits); }

  std::array<unsigned long, kMostCpus / kBits> words_{};
};

}  // namespace

int pin(int cpu) noexcept {
  if (cpu < 0) return 0;
  if (cpu >= kMostCpus) return EINVAL;
  CpuMask mask;
  mask.add(cpu);
  return sched_setaffinity(0, CpuMask::size(), mask.as_set()) == 0 ? 0 : errno;
}

void pin_or_throw(int cpu) {
  if (const int error = pin(cpu)) throw std::system_error(error, std::generic_category(), "pinning a thread");
}

void require_allowed(int cpu) {
  if (cpu < 0) return;
  CpuMask allowed;
  if (sched_getaffinity(0, CpuMask::size(), allowed.as_set()) != 0) {
    throw std::system_error(errno, std::generic_category(), "reading the affinity mask");
  }
  if (cpu >= kMostCpus || !allowed.has(cpu)) {
    throw std::system_error(EINVAL, std::generic_category(), "this process may not run on the CPU asked for");
  }
}

}  // namespace unjank::bench
