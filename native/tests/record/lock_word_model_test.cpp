// The shipped lock word under every schedule within the bounds: exclusion, no lost wake-up, no wrong owner. A lost
// wake-up leaves a thread asleep for ever: a deadlock of the model.
#include <doctest/doctest.h>

#include "record/lock_word.h"
#include "tests/model/futex_model.h"
#include "tests/record/model_checks.h"

namespace unjank::model {

namespace {

using record::BlockEnd;
using record::Holder;
using record::kForever;
using record::LockWordOrders;

template <class O>
struct World {
  using Lock = record::LockWord<FutexPolicy, O>;
  Lock lock;
  Plain<int> guarded;
  int inside = 0;

  static Holder me(std::uint32_t thread) { return {thread, thread * 10}; }

  // Takes the lock if it is to be had by `ends_by`, and works under it.
  void work(std::uint32_t thread, std::int64_t ends_by = kForever) {
    if (!acquire(thread, ends_by)) return;
    work_and_release(thread);
  }
  // A barger: only if the lock is free at this moment.
  void barge(std::uint32_t thread) {
    if (lock.try_acquire(me(thread))) work_and_release(thread);
  }
  // Looks at who holds the lock, as a waiter does to tell whom it waits for.
  void look() {
    const std::uint64_t word = lock.peek();
    const Holder seen = Lock::unpack(word);
    const bool locked = word & Lock::kLocked;
    Execution::current().require(locked ? seen.thread != 0 && seen.site == seen.thread * 10 : word == 0,
                                 "an owner that never was");
  }

 private:
  bool acquire(std::uint32_t thread, std::int64_t ends_by) {
    if (lock.try_acquire(me(thread))) return true;
    BlockEnd end = lock.block(me(thread), ends_by);
    if (end == BlockEnd::kInterrupted) end = lock.block(me(thread), kForever);  // the handler has run
    return end == BlockEnd::kAcquired;
  }

  void work_and_release(std::uint32_t thread) {
    Execution& run = Execution::current();
    run.require(++inside == 1, "two threads hold the lock");
    guarded.set(guarded.get() + 1);
    run.require(Lock::unpack(lock.peek()).thread == thread, "the word names another owner");
    --inside;
    run.require(lock.release(), "the lock was free under its owner");
  }
};

template <class O>
std::shared_ptr<World<O>> make_world(Execution& run) {
  FutexPolicy::queue() = std::make_shared<SleepQueue>();
  auto world = std::make_shared<World<O>>();
  run.keep(world);
  return world;
}

constexpr Bounds kThorough{.preemptions = 3, .stale_reads = 1, .executions = 4'000'000};

template <class O>
Outcome two_threads() {
  return explore({.preemptions = 4, .stale_reads = 2}, [](Execution& run) {
    auto w = make_world<O>(run);
    for (std::uint32_t t : {1, 2}) run.spawn([w, t] { w->work(t); });
    run.finally([w, &run] { run.require(w->guarded.get() == 2, "an update was lost"); });
  });
}

// Several sleepers: a release clears the mark for all of them and wakes one.
template <class O>
Outcome three_threads(Bounds bounds = kThorough) {
  return explore(bounds, [](Execution& run) {
    auto w = make_world<O>(run);
    for (std::uint32_t t : {1, 2, 3}) run.spawn([w, t] { w->work(t); });
    run.finally([w, &run] { run.require(w->guarded.get() == 3 && !w->lock.locked(), "an update was lost"); });
  });
}

// A barger takes the lock between a release and the sleeper that was woken by it.
template <class O>
Outcome sleepers_and_barger() {
  return explore({.executions = 4'000'000}, [](Execution& run) {
    auto w = make_world<O>(run);
    for (std::uint32_t t : {1, 2, 3}) run.spawn([w, t] { w->work(t); });
    run.spawn([w] { w->barge(4); });
  });
}

// A waiter gives up, or is interrupted, while another one sleeps.
template <class O>
Outcome sleeper_and_leaver(std::int64_t ends_by) {
  return explore(kThorough, [ends_by](Execution& run) {
    auto w = make_world<O>(run);
    run.spawn([w] { w->work(1); });
    run.spawn([w] { w->work(2); });
    run.spawn([w, ends_by] { w->work(3, ends_by); });
  });
}

template <class O>
Outcome owner_is_seen() {
  return explore({.preemptions = 3, .stale_reads = 3}, [](Execution& run) {
    auto w = make_world<O>(run);
    for (std::uint32_t t : {1, 2}) run.spawn([w, t] { w->work(t); });
    run.spawn([w] { w->look(), w->look(); });
  });
}

struct TakesRelaxed : LockWordOrders { static constexpr auto kTake = std::memory_order_relaxed; };
struct FreesRelaxed : LockWordOrders { static constexpr auto kFree = std::memory_order_relaxed; };
struct PeeksRelaxed : LockWordOrders { static constexpr auto kPeek = std::memory_order_relaxed; };
struct MarksRelaxed : LockWordOrders { static constexpr auto kMark = std::memory_order_relaxed; };
struct MarksOnce : LockWordOrders { static constexpr bool kMarkAlways = false; };
struct CountsAfterMark : LockWordOrders { static constexpr bool kCountBeforeMark = false; };
struct TakesUnmarked : LockWordOrders { static constexpr bool kTakeMarked = false; };

}  // namespace

TEST_CASE("exclusion: one thread at a time, which sees what the one before wrote") {
  CHECK_HOLDS(two_threads<LockWordOrders>());
  CHECK_CAUGHT(two_threads<TakesRelaxed>());
  CHECK_CAUGHT(two_threads<FreesRelaxed>());
}

TEST_CASE("no wake-up is lost among several sleepers") {
  CHECK_HOLDS(three_threads<LockWordOrders>());
  CHECK_CAUGHT(three_threads<TakesUnmarked>());
  CHECK_CAUGHT(three_threads<CountsAfterMark>());
}

TEST_CASE("the count is passed on by the word alone") {
  CHECK_CAUGHT(three_threads<MarksRelaxed>());
  CHECK_CAUGHT(three_threads<PeeksRelaxed>());
  CHECK_CAUGHT(three_threads<MarksOnce>());
}

TEST_CASE("no wake-up is lost to a barger") { CHECK_HOLDS(sleepers_and_barger<LockWordOrders>()); }

TEST_CASE("no wake-up is lost with a waiter whose time runs out") {
  CHECK_HOLDS(sleeper_and_leaver<LockWordOrders>(kMayTimeOut));
}

TEST_CASE("no wake-up is lost with a waiter that a signal interrupts") {
  CHECK_HOLDS(sleeper_and_leaver<LockWordOrders>(kMayBeInterrupted));
}

TEST_CASE("whoever looks sees an owner with its own site, or none") {
  CHECK_HOLDS(owner_is_seen<LockWordOrders>());
}

}  // namespace unjank::model
