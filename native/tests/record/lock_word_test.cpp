// The lock word, step by step on one thread: the futex is a hook that plays the other threads.
#include "record/lock_word.h"

#include <doctest/doctest.h>

#include <functional>

namespace unjank::record {

namespace {

/// A futex whose sleep runs what the test has put there, and that counts wake-ups.
struct ScriptedFutex {
  template <class T>
  using Atomic = std::atomic<T>;

  static inline std::function<WaitEnd(std::uint32_t expected)> on_wait;
  static inline int wakes = 0;

  static WaitEnd wait(Atomic<std::uint64_t>&, std::uint32_t expected, std::int64_t) { return on_wait(expected); }
  static void wake_one(Atomic<std::uint64_t>&) { ++wakes; }
};

using Lock = LockWord<ScriptedFutex>;
constexpr Holder kOwner{1, 10};
constexpr Holder kWaiter{2, 20};
constexpr Holder kBarger{3, 30};

}  // namespace

TEST_CASE("the word tells owner and site while the lock is held, and nothing when it is free") {
  Lock lock;
  CHECK(lock.peek() == 0);
  CHECK(lock.try_acquire(kOwner));
  CHECK(Lock::unpack(lock.peek()).thread == 1);
  CHECK(Lock::unpack(lock.peek()).site == 10);
  CHECK_FALSE(lock.try_acquire(kWaiter));
  CHECK(lock.release());
  CHECK(lock.peek() == 0);
  CHECK_FALSE(lock.release());
}

TEST_CASE("the largest numbers fit and leave the flags alone") {
  const Holder largest{Lock::kMaxThread, ~std::uint32_t{0}};
  const std::uint64_t word = Lock::pack(largest);
  CHECK(Lock::unpack(word).thread == largest.thread);
  CHECK(Lock::unpack(word).site == largest.site);
  CHECK((word & (Lock::kLocked | Lock::kSleepers)) == Lock::kLocked);
}

TEST_CASE("an uncontended lock wakes nobody") {
  Lock lock;
  ScriptedFutex::wakes = 0;
  for (int i = 0; i < 3; ++i) lock.try_acquire(kOwner), lock.release();
  CHECK(ScriptedFutex::wakes == 0);
}

TEST_CASE("each release wakes one while threads wait, also that of a thread that came in between") {
  Lock lock;
  ScriptedFutex::wakes = 0;
  lock.try_acquire(kOwner);
  ScriptedFutex::on_wait = [&](std::uint32_t expected) {
    CHECK(expected == static_cast<std::uint32_t>(lock.peek()));
    CHECK(lock.waiting() == 1);
    lock.release();
    CHECK(lock.try_acquire(kBarger));
    lock.release();
    return WaitEnd::kWoken;
  };
  CHECK(lock.block(kWaiter, kForever) == BlockEnd::kAcquired);
  CHECK(ScriptedFutex::wakes == 2);
  CHECK(Lock::unpack(lock.peek()).thread == 2);
  CHECK(lock.waiting() == 0);
}

TEST_CASE("a waiter whose time is up leaves a taken lock") {
  Lock lock;
  lock.try_acquire(kOwner);
  ScriptedFutex::on_wait = [](std::uint32_t) { return WaitEnd::kTimedOut; };
  CHECK(lock.block(kWaiter, 1) == BlockEnd::kTimedOut);
  CHECK(lock.waiting() == 0);
  CHECK(Lock::unpack(lock.peek()).thread == 1);
}

TEST_CASE("a waiter that is interrupted takes a lock that is free by then") {
  Lock lock;
  lock.try_acquire(kOwner);
  ScriptedFutex::on_wait = [&](std::uint32_t) {
    lock.release();
    return WaitEnd::kInterrupted;
  };
  CHECK(lock.block(kWaiter, kForever) == BlockEnd::kAcquired);
}

TEST_CASE("after a fork the lock is free") {
  Lock lock;
  lock.try_acquire(kOwner);
  lock.reset();
  CHECK(lock.peek() == 0);
  CHECK(lock.try_acquire(kWaiter));
}

}  // namespace unjank::record
