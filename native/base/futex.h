// The two futex calls that a word to sleep on needs, on the low 32 bits of a 64-bit word.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <cerrno>
#include <cstdint>

namespace unjank {

static_assert(std::endian::native == std::endian::little, "the futex is the low half of the word");

enum class WaitEnd { kWoken, kTimedOut, kInterrupted };

/// "No deadline" for `FutexPolicy::wait`.
inline constexpr std::int64_t kNoDeadline = -1;

/// What ships. Model tests put another policy in its place.
struct FutexPolicy {
  template <class T>
  using Atomic = std::atomic<T>;

  /// Sleeps while the low half of `word` is `expected`; `deadline_ns` is on CLOCK_MONOTONIC.
  static WaitEnd wait(Atomic<std::uint64_t>& word, std::uint32_t expected, std::int64_t deadline_ns) {
    timespec at{};
    if (deadline_ns != kNoDeadline) {
      at.tv_sec = deadline_ns / 1'000'000'000;
      at.tv_nsec = deadline_ns % 1'000'000'000;
    }
    // FUTEX_WAIT_BITSET takes an absolute time, so an interrupted wait needs no arithmetic.
    const long failed = syscall(SYS_futex, low_half(word), FUTEX_WAIT_BITSET_PRIVATE, expected,
                                deadline_ns == kNoDeadline ? nullptr : &at, nullptr, FUTEX_BITSET_MATCH_ANY);
    if (failed == 0) return WaitEnd::kWoken;
    if (errno == ETIMEDOUT) return WaitEnd::kTimedOut;
    if (errno == EINTR) return WaitEnd::kInterrupted;
    return WaitEnd::kWoken;  // EAGAIN: the word changed before we slept
  }

  static void wake_one(Atomic<std::uint64_t>& word) {
    syscall(SYS_futex, low_half(word), FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  }

 private:
  static std::uint32_t* low_half(Atomic<std::uint64_t>& word) { return reinterpret_cast<std::uint32_t*>(&word); }
};

}  // namespace unjank
