#include "bench/placement.h"

#include <sched.h>

#include <cerrno>
#include <system_error>

namespace unjank::bench {

int pin(int cpu) noexcept {
  if (cpu < 0) return 0;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<unsigned>(cpu), &set);
  return sched_setaffinity(0, sizeof set, &set) == 0 ? 0 : errno;
}

void pin_or_throw(int cpu) {
  if (const int error = pin(cpu)) throw std::system_error(error, std::generic_category(), "pinning a thread");
}

void require_allowed(int cpu) {
  if (cpu < 0) return;
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
    throw std::system_error(errno, std::generic_category(), "reading the affinity mask");
  }
  if (cpu >= CPU_SETSIZE || !CPU_ISSET(static_cast<unsigned>(cpu), &allowed)) {
    throw std::system_error(EINVAL, std::generic_category(), "this process may not run on the CPU asked for");
  }
}

}  // namespace unjank::bench
