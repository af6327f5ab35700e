// What the kernel counted about a thread: the proof of what a measurement measured.
//
// A forked child may call all of it: no allocation, no locks, no exceptions.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "bench/placement.h"

namespace unjank::bench {

inline constexpr std::int64_t kUnknown = -1;

struct ThreadCounters {
  std::int64_t voluntary = 0;            // it blocked: getrusage(RUSAGE_THREAD), ru_nvcsw
  std::int64_t involuntary = 0;          // it was preempted: ru_nivcsw
  std::int64_t migrations = kUnknown;    // se.nr_migrations of /proc/thread-self/sched, where the kernel has it
  std::int64_t cpu_ns = 0;               // CPU time
  std::int64_t run_wait_ns = kUnknown;   // ready, but kept off the CPU: schedstat, where the kernel has it

  ThreadCounters since(const ThreadCounters& before) const noexcept;
};

// Of the calling thread, from its birth on.
ThreadCounters own_counters() noexcept;

// The value of "se.nr_migrations : N" in a /proc/…/sched file; kUnknown if there is none.
std::int64_t parse_migrations(std::string_view text) noexcept;

// The CPUs that a thread was seen on. One thread writes; read when it is done.
class CpusSeen {
 public:
  static constexpr int kLimit = kMostCpus;

  // sched_getcpu() of the calling thread, noted.
  int note_own() noexcept;
  bool has(int cpu) const noexcept { return seen_[static_cast<unsigned>(cpu) / 64] >> (cpu % 64) & 1; }
  std::int64_t changes() const noexcept { return changes_; }  // at least as many migrations there were

 private:
  std::array<std::uint64_t, kLimit / 64> seen_{};
  int last_ = -1;
  std::int64_t changes_ = 0;
};

// One thread of a measurement, while it was timed.
struct Side {
  ThreadCounters counters;
  CpusSeen cpus;
};

}  // namespace unjank::bench
