// The clock of all packets: the one that the trace clock `boot` of the rings agrees with.
#pragma once

#include <time.h>

#include <cstdint>

namespace unjank::ftrace {

inline std::uint64_t boot_time_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace unjank::ftrace
