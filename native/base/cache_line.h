// The unit that cores hand each other: two threads that write one line wait for each other.
#pragma once

#include <cstddef>

namespace unjank {

// 64 on x86-64 and nearly all ARM64. std::hardware_destructive_interference_size is not used: its value is
// part of the ABI and changes with compiler flags.
inline constexpr std::size_t kCacheLine = 64;

}  // namespace unjank
