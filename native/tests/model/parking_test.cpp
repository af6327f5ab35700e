// Signal / sleep on the shipped parking spot. A lost wake-up leaves the sleeper asleep for ever: a deadlock of the model.
#include "doctest/doctest.h"
#include "poll/parking_spot.h"
#include "tests/model/fixtures.h"
#include "tests/model/futex_model.h"

namespace unjank::model {

namespace {

using poll::ParkingOrders;

template <class O>
struct Parking {
  using Spot = poll::ParkingSpot<FutexPolicy, O>;

  Spot spot;
  WakeHandle handle;
  Atomic<int> posted{0};
  Atomic<int> listeners{0};

  // Sleeps, wherever it has to, until so much was posted.
  void sleep_until(int count, std::int64_t deadline) {
    while (posted.load(std::memory_order_relaxed) < count) {
      const bool polls = listeners.load(std::memory_order_relaxed) != 0;
      if (!spot.lie_down(polls ? Spot::kPolling : Spot::kParked)) continue;
      if (polls) {
        handle.sleep();
      } else {
        spot.sleep_parked(deadline);
      }
      if (!spot.get_up()) Policy::pause();
    }
  }
  void post() {
    posted.fetch_add(1, std::memory_order_relaxed);
    signal();
  }
  void signal() {
    if (spot.signal()) handle.wake();
  }
};

template <class O>
std::shared_ptr<Parking<O>> make_parking(Execution& run) {
  FutexPolicy::queue() = std::make_shared<SleepQueue>();
  auto parking = std::make_shared<Parking<O>>();
  run.keep(parking);
  return parking;
}

// Two posters and a sleeper; with a deadline it may also wake by itself at any moment.
template <class O>
Outcome signal_races_sleep(std::int64_t deadline, bool polls) {
  return explore({}, [=](Execution& run) {
    auto p = make_parking<O>(run);
    if (polls) p->listeners.store(1);
    run.spawn([p, deadline] { p->sleep_until(2, deadline); });
    for (int i = 0; i < 2; ++i) run.spawn([p] { p->post(); });
  });
}

// The first listener comes while the sleeper is, or is about to be, in the futex, where no descriptor reaches it.
template <class O>
Outcome first_listener_races_sleep() {
  return explore({}, [](Execution& run) {
    auto p = make_parking<O>(run);
    run.spawn([p] {
      while (p->listeners.load(std::memory_order_relaxed) == 0) {
        if (!p->spot.lie_down(Parking<O>::Spot::kParked)) continue;
        p->spot.sleep_parked(kNoDeadline);
        p->spot.get_up();
      }
    });
    run.spawn([p] {
      p->listeners.store(1, std::memory_order_relaxed);
      p->signal();
    });
  });
}

// A listener comes and goes while somebody posts: the sleeper may be in either place, and leave one for the other.
template <class O>
Outcome post_races_a_change_of_place() {
  return explore({}, [](Execution& run) {
    auto p = make_parking<O>(run);
    run.spawn([p] { p->sleep_until(1, kNoDeadline); });
    run.spawn([p] {
      p->listeners.store(1, std::memory_order_relaxed);
      p->signal();
      p->listeners.store(0, std::memory_order_relaxed);
    });
    run.spawn([p] { p->post(); });
  });
}

// A waker that cannot write the handle, then one that can.
Outcome failed_wake_up_is_tried_again(bool gives_up) {
  return explore({}, [gives_up](Execution& run) {
    auto p = make_parking<ParkingOrders>(run);
    p->listeners.store(1);
    run.spawn([p] { p->sleep_until(1, kNoDeadline); });
    run.spawn([p, gives_up] {
      if (p->spot.signal() && gives_up) p->spot.give_up();
      p->post();
    });
  });
}

#define PARKING_MUTANT(NAME, CHANGED, VALUE) \
  struct NAME : ParkingOrders {              \
    static constexpr auto CHANGED = VALUE;   \
  }
PARKING_MUTANT(SignalRelaxed, kSignal, std::memory_order_relaxed);
PARKING_MUTANT(GetUpRelaxed, kGetUp, std::memory_order_relaxed);
PARKING_MUTANT(SignalIgnored, kHeedSignal, false);

}  // namespace

TEST_CASE("signal races sleep") {
  for (const bool polls : {false, true}) {
    CAPTURE(polls);
    CHECK_HOLDS(signal_races_sleep<ParkingOrders>(kNoDeadline, polls));
    CHECK_CAUGHT(signal_races_sleep<SignalRelaxed>(kNoDeadline, polls));
    CHECK_CAUGHT(signal_races_sleep<GetUpRelaxed>(kNoDeadline, polls));
    CHECK_CAUGHT(signal_races_sleep<SignalIgnored>(kNoDeadline, polls));
  }
}

TEST_CASE("signal races a sleep that ends by itself") {
  CHECK_HOLDS(signal_races_sleep<ParkingOrders>(kMayTimeOut, false));
  CHECK_HOLDS(signal_races_sleep<ParkingOrders>(kMayBeInterrupted, false));
}

TEST_CASE("the first listener races sleep") {
  CHECK_HOLDS(first_listener_races_sleep<ParkingOrders>());
  CHECK_CAUGHT(first_listener_races_sleep<SignalRelaxed>());
  CHECK_CAUGHT(first_listener_races_sleep<SignalIgnored>());
}

TEST_CASE("a post races a change of the place to sleep") {
  CHECK_HOLDS(post_races_a_change_of_place<ParkingOrders>());
  CHECK_CAUGHT(post_races_a_change_of_place<SignalRelaxed>());
  CHECK_CAUGHT(post_races_a_change_of_place<GetUpRelaxed>());
  CHECK_CAUGHT(post_races_a_change_of_place<SignalIgnored>());
}

TEST_CASE("a wake-up that failed is tried again by the next poster") {
  CHECK_HOLDS(failed_wake_up_is_tried_again(true));
  CHECK_CAUGHT(failed_wake_up_is_tried_again(false));
}

}  // namespace unjank::model
