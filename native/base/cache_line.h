// The unit that cores hand each other: two threads that write one line wait for each other.
#pragma once

#include <cstddef>

namespace unjank {

// 64 on x86-64 and nearly all ARM64. std::hardware_destructive_interference_size is not used: its value is
// part of the ABI and changes with compiler flags.
inline constexpr std::size_t kCacheLine = 64;

// Asks for all lines of an object that is written soon, so that the wait for them passes while other work is done.
// A hint: null and freed addresses are fine.
template <class T>
inline void prefetch_for_write(const T* object) {
  for (std::size_t at = 0; at < sizeof(T); at += kCacheLine) {
    __builtin_prefetch(reinterpret_cast<const char*>(object) + at, 1);
  }
}

}  // namespace unjank
