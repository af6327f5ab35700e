// CLOCK_BOOTTIME, Perfetto's default trace clock; runs through suspend, and ftrace can use it too.
#pragma once

#include <time.h>

#include <cstdint>

namespace unjank::record {

inline std::int64_t clock_ns(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

inline std::int64_t boot_ns() { return clock_ns(CLOCK_BOOTTIME); }
inline std::int64_t monotonic_ns() { return clock_ns(CLOCK_MONOTONIC); }

}  // namespace unjank::record
