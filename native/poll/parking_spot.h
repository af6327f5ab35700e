// Where one thread sleeps and any thread wakes it, when it is not clear beforehand in what it sleeps.
//
// The sleeper says in one word where it is about to sleep: in the futex of that very word, or in a poller of file
// descriptors, which a thread leaves only for an event. A waker exchanges the word for "signalled" and learns by that
// what it has to do: nothing, because the sleeper is awake and will see the signal before it lies down; wake the futex;
// or write the poller's wake handle. A futex is the shorter way: no descriptor, no queue of events, one system call less
// for the sleeper to find out what happened.
//
//   sleeper:  lie_down(kParked or kPolling)  ->  sleep_parked() or the poller's wait  ->  get_up()
//   waker:    signal()
//
// Guarantees. A signal ends the sleep at hand or, if there is none, the next one; signals in between count as one.
// What happened before signal() happens before the get_up() or lie_down() that tells of it.
// Progress. signal() is one exchange and at most one system call. A sleep may end without a signal.
//
// `word` - Encodes: awake, signalled, parked, or polling. Written by: the sleeper (lies down by a CAS from awake, gets up
// by an exchange), wakers (exchange). Publish: kSignal releases, kGetUp acquires. A reader may conclude: (a
// waker, from parked or polling) the sleeper does not see what I did unless I wake it; (the sleeper, from signalled)
// there is something to see. Breaks if weakened, or if the sleeper lies down over a signal: it sleeps though what it
// waits for is there (parking_model_test "signal races sleep").
#pragma once

#include <cstdint>

#include "base/futex.h"

namespace unjank::poll {

struct ParkingOrders {
  static constexpr auto kSignal = std::memory_order_release;
  static constexpr auto kGetUp = std::memory_order_acquire;
  static constexpr bool kHeedSignal = true;  // one that came before the sleeper lay down
};

template <class Policy = FutexPolicy, class O = ParkingOrders>
class ParkingSpot {
 public:
  enum State : std::uint64_t { kAwake, kSignalled, kParked, kPolling };

  // Sleeper. False: a signal came in, which this takes.
  bool lie_down(State where) {
    std::uint64_t seen = kAwake;
    if (word_.compare_exchange_strong(seen, where, std::memory_order_relaxed, std::memory_order_relaxed)) return true;
    if constexpr (!O::kHeedSignal) {
      word_.store(where, std::memory_order_relaxed);
      return true;
    }
    get_up();
    return false;
  }

  // Sleeper, after lie_down(kParked), until a signal or the deadline on CLOCK_MONOTONIC.
  WaitEnd sleep_parked(std::int64_t deadline_ns) { return Policy::wait(word_, kParked, deadline_ns); }

  // Sleeper, after its sleep. Was there a signal?
  bool get_up() { return word_.exchange(kAwake, O::kGetUp) == kSignalled; }

  // Any thread. True: the sleeper is in its poller, and the caller must get it out of there.
  bool signal() {
    const std::uint64_t before = word_.exchange(kSignalled, O::kSignal);
    if (before == kParked) Policy::wake_one(word_);
    return before == kPolling;
  }
  // The caller could not: the next one shall try again.
  void give_up() {
    std::uint64_t seen = kSignalled;
    word_.compare_exchange_strong(seen, kPolling, std::memory_order_relaxed, std::memory_order_relaxed);
  }

 private:
  typename Policy::template Atomic<std::uint64_t> word_{kAwake};
};

}  // namespace unjank::poll
