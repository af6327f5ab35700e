// The explorer itself: it must find the textbook mistakes, and accept the textbook solutions.
#include "doctest/doctest.h"
#include "tests/model/fixtures.h"

namespace unjank::model {

namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;
constexpr auto kAcquire = std::memory_order_acquire;
constexpr auto kRelease = std::memory_order_release;
constexpr auto kSeqCst = std::memory_order_seq_cst;

// Both threads write their own flag and read the other's: not both may read 0.
Outcome store_buffering(std::memory_order write, std::memory_order read) {
  struct State {
    Atomic<int> x{0}, y{0};
    int saw_x = -1, saw_y = -1;
  };
  return explore({}, [=](Execution& run) {
    auto s = std::make_shared<State>();
    run.keep(s);
    run.spawn([=] { s->x.store(1, write); s->saw_y = s->y.load(read); });
    run.spawn([=] { s->y.store(1, write); s->saw_x = s->x.load(read); });
    run.finally([=, &run] { run.require(s->saw_x + s->saw_y != 0, "both read 0"); });
  });
}

// A plain variable handed over by a flag.
Outcome message_passing(std::memory_order write, std::memory_order read) {
  struct State {
    Plain<int> data;
    Atomic<int> flag{0};
  };
  return explore({}, [=](Execution& run) {
    auto s = std::make_shared<State>();
    run.keep(s);
    run.spawn([=] { s->data.set(42); s->flag.store(1, write); });
    run.spawn([=, &run] {
      if (s->flag.load(read) == 1) run.require(s->data.get() == 42, "stale data");
    });
  });
}

// The flag is changed by a third thread's relaxed read-modify-write in between.
Outcome release_sequence(bool by_store) {
  struct State {
    Plain<int> data;
    Atomic<int> flag{0};
  };
  return explore({}, [=](Execution& run) {
    auto s = std::make_shared<State>();
    run.keep(s);
    run.spawn([=] { s->data.set(42); s->flag.store(1, kRelease); });
    run.spawn([=] {
      if (by_store) {
        if (s->flag.load(kRelaxed) == 1) s->flag.store(2, kRelaxed);
      } else {
        int one = 1;
        s->flag.compare_exchange_strong(one, 2, kRelaxed, kRelaxed);
      }
    });
    run.spawn([=] {
      if (s->flag.load(kAcquire) == 2) s->data.get();
    });
  });
}

}  // namespace

TEST_CASE("store buffering is allowed below seq_cst only") {
  CHECK_HOLDS(store_buffering(kSeqCst, kSeqCst));
  CHECK_CAUGHT(store_buffering(kRelease, kSeqCst));
  CHECK_CAUGHT(store_buffering(kSeqCst, kAcquire));
}

TEST_CASE("message passing needs release and acquire") {
  CHECK_HOLDS(message_passing(kRelease, kAcquire));
  CHECK_CAUGHT(message_passing(kRelaxed, kAcquire));
  CHECK_CAUGHT(message_passing(kRelease, kRelaxed));
}

TEST_CASE("a relaxed read-modify-write continues a release sequence, a relaxed store ends it") {
  CHECK_HOLDS(release_sequence(false));
  CHECK_CAUGHT(release_sequence(true));
}

TEST_CASE("a lost update needs one preemption, and is found with one only") {
  struct State {
    Atomic<int> count{0};
  };
  const auto increment_twice = [](int preemptions) {
    return explore({.preemptions = preemptions, .stale_reads = 0}, [](Execution& run) {
      auto s = std::make_shared<State>();
      run.keep(s);
      for (int i = 0; i < 2; ++i) run.spawn([=] { s->count.store(s->count.load(kSeqCst) + 1, kSeqCst); });
      run.finally([=, &run] { run.require(s->count.load() == 2, "lost update"); });
    });
  };
  CHECK_HOLDS(increment_twice(0));
  CHECK_CAUGHT(increment_twice(1));
}

TEST_CASE("coherence: a thread never reads older than it has read") {
  struct State {
    Atomic<int> x{0};
  };
  CHECK_HOLDS(explore({.stale_reads = 4}, [](Execution& run) {
    auto s = std::make_shared<State>();
    run.keep(s);
    run.spawn([=] {
      for (int i = 1; i < 4; ++i) s->x.store(i, kRelaxed);
    });
    run.spawn([=, &run] {
      const int first = s->x.load(kRelaxed);
      run.require(s->x.load(kRelaxed) >= first, "went back in time");
    });
  }));
}

TEST_CASE("a thread that nobody wakes is a deadlock; one that waits in a loop with pause() is not") {
  CHECK_CAUGHT(explore({}, [](Execution& run) { run.spawn([&run] { run.block_until([] { return false; }); }); }));
  struct State {
    Atomic<int> x{0};
  };
  CHECK_HOLDS(explore({}, [](Execution& run) {
    auto s = std::make_shared<State>();
    run.keep(s);
    run.spawn([=] {
      while (s->x.load(kAcquire) == 0) Policy::pause();
    });
    run.spawn([=] { s->x.store(1, kRelease); });
  }));
}

}  // namespace unjank::model
