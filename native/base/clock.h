// Time as the queues see it: nanoseconds of one monotonic clock, behind an interface so that tests and users'
// drivers can turn the hands themselves.
#pragma once

#include <time.h>

#include <atomic>
#include <cstdint>

namespace unjank {

// "Never". Far enough from the type's end that a wake word can hold it with a flag bit (see wake_word.h).
inline constexpr std::int64_t kForever = (std::int64_t{1} << 62) - 1;

class Clock {
 public:
  virtual ~Clock() = default;
  virtual std::int64_t now_ns() const = 0;  // any thread
};

// CLOCK_MONOTONIC: one reading order for all cores; stands still while the machine is suspended.
class MonotonicClock final : public Clock {
 public:
  std::int64_t now_ns() const override {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  }
};

// A clock that moves when told to.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(std::int64_t now = 0) : now_(now) {}
  std::int64_t now_ns() const override { return now_.load(std::memory_order_relaxed); }
  void set(std::int64_t now) { now_.store(now, std::memory_order_relaxed); }
  void advance(std::int64_t by) { now_.fetch_add(by, std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> now_;
};

// now + delay, for any delay: a negative one is due now, a huge one never, instead of overflowing.
constexpr std::int64_t deadline_after(std::int64_t now, std::int64_t delay) {
  if (delay <= 0) return now;
  if (now > 0 && delay > kForever - now) return kForever;
  return now + delay < kForever ? now + delay : kForever;
}

}  // namespace unjank
