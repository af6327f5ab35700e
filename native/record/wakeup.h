// A counter to sleep on: bare futex, so that a forked child finds nothing to repair in it.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>

namespace unjank::record {

class Wakeup {
 public:
  std::uint32_t now() const { return count_.load(std::memory_order_acquire); }

  void notify() {
    count_.fetch_add(1, std::memory_order_release);
    syscall(SYS_futex, address(), FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
  }

  /// Sleeps until somebody notifies after `seen` was read, or the time is up; may also wake for no reason.
  void wait_beyond(std::uint32_t seen, std::int64_t at_most_ns) {
    const timespec limit{at_most_ns / 1'000'000'000, at_most_ns % 1'000'000'000};
    syscall(SYS_futex, address(), FUTEX_WAIT_PRIVATE, seen, &limit, nullptr, 0);
  }

 private:
  std::uint32_t* address() { return reinterpret_cast<std::uint32_t*>(&count_); }

  // `count_` — Encodes: notifications so far. Written by: notifiers. Release, so that a waiter that sees the
  // new count sees what it was notified of.
  std::atomic<std::uint32_t> count_{0};
};

}  // namespace unjank::record
