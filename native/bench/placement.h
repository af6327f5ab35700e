// Where the threads of a measurement run.
#pragma once

namespace unjank::bench {

inline constexpr int kMostCpus = 8192;  // of the largest kernel build

// Two CPUs to run a pair of threads on; -1 leaves the choice to the scheduler.
struct Placement {
  int first = -1;
  int second = -1;
};

// Binds the calling thread to one CPU; -1 does nothing. 0 or an errno: a forked child may call it.
int pin(int cpu) noexcept;

// The same; what the kernel refuses is thrown as std::system_error.
void pin_or_throw(int cpu);

// Before any thread is started, so that the error reaches the caller: throws std::system_error if this process may
// not run on a CPU.
void require_allowed(int cpu);
inline void require_allowed(Placement placement) {
  require_allowed(placement.first);
  require_allowed(placement.second);
}

}  // namespace unjank::bench
