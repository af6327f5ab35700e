// quit / post and wake / close.
#include "doctest/doctest.h"
#include "tests/model/fixtures.h"

namespace unjank::model {

namespace {

// Moves on at every reading, as time does.
class TickingClock final : public Clock {
 public:
  std::int64_t now_ns() const override { return ++now_; }

 private:
  mutable std::int64_t now_ = 1;
};

// Gives thread `looper` the time at which quit() was called: a cutoff read too early.
class CutoffAtQuitCall final : public Clock {
 public:
  std::int64_t now_ns() const override {
    if (Execution::current().thread() == 1 && cutoff != 0) return cutoff;
    return ++now_;
  }
  std::int64_t cutoff = 0;

 private:
  mutable std::int64_t now_ = 1;
};

template <class O, class ClockType>
struct QuittingWorld {
  WakeHandle handle;
  ClockType clock;
  std::optional<Queue<Policy, Pool<O>, O>> queue;
  int accepted = 0;
  int ran = 0;
  bool quit_returned = false;
  QuittingWorld() { queue.emplace(handle, clock); }

  void loop() {
    for (;;) {
      const Next next = queue->next();
      if (next.kind == Next::Kind::kQuit) return;
      if (next.kind == Next::Kind::kMessage) {
        ++ran;
      } else if (queue->prepare_sleep()) {
        handle.sleep();
        queue->finish_sleep();
      }
    }
  }
  void post_now(Execution& run) {
    const bool refused_from_here = quit_returned;
    const bool posted = static_cast<bool>(queue->post({.when_ns = clock.now_ns()}));
    run.require(!posted || !refused_from_here, "accepted after quit() had returned");
    accepted += posted;
  }
};

template <class O, class ClockType = TickingClock>
Outcome quit_races_post() {
  return explore({}, [](Execution& run) {
    auto w = std::make_shared<QuittingWorld<O, ClockType>>();
    run.keep(w);
    run.spawn([w] { w->loop(); });
    run.spawn([w, &run] {
      w->post_now(run);
      w->post_now(run);
    });
    run.spawn([w] {
      if constexpr (requires { w->clock.cutoff; }) w->clock.cutoff = w->clock.now_ns();
      w->queue->quit(QuitMode::kSafe);
      w->quit_returned = true;
    });
    run.finally([w, &run] {
      run.require(w->ran == w->accepted, "an accepted message that was due did not run");
      w->queue.reset();
    });
  });
}

// The looper leaves and closes its handle while a producer wakes it.
template <class O>
Outcome wake_races_close() {
  return explore({}, [](Execution& run) {
    auto w = make_world<O>(run);
    run.spawn([w] {
      w->run_and_sleep();
      w->queue->close();
      w->handle.close();
    });
    run.spawn([w] { w->queue->post(w->message(1)); });
    run.spawn([w] { w->queue->quit(QuitMode::kDrop); });
    run.finally([w] { w->queue.reset(); });
  });
}

// Two quits at once: one sentinel, one mode.
template <class O>
Outcome quit_races_quit() {
  return explore({}, [](Execution& run) {
    auto w = make_world<O>(run);
    w->queue->post(w->message(1));
    run.spawn([w] { w->run_and_sleep(); });
    run.spawn([w] { w->queue->quit(QuitMode::kSafe); });
    run.spawn([w] { w->queue->quit(QuitMode::kDrop); });
    run.finally([w, &run] {
      w->queue.reset();
      run.require(w->released + w->ran.size() == 1, "lost, or run and released");
    });
  });
}

MUTANT(PushOverSentinel, kRecheckRefused, false);
MUTANT(TwoSentinels, kOneSentinel, false);
MUTANT(CloseAtOnce, kCloseAwaitsLeavers, false);
MUTANT(LeaveRelaxed, kLeaveHandle, std::memory_order_relaxed);
MUTANT(AwaitRelaxed, kAwaitLeavers, std::memory_order_relaxed);

}  // namespace

TEST_CASE("quit races post") {
  CHECK_HOLDS(quit_races_post<Orders>());
  CHECK_CAUGHT(quit_races_post<PushOverSentinel>());
}

TEST_CASE("quit_safely: a cutoff read when quit() was called loses a message that was due when posted") {
  CHECK_CAUGHT((quit_races_post<Orders, CutoffAtQuitCall>()));
}

TEST_CASE("wake races close") {
  CHECK_HOLDS(wake_races_close<Orders>());
  CHECK_CAUGHT(wake_races_close<CloseAtOnce>());
  CHECK_CAUGHT(wake_races_close<LeaveRelaxed>());
  CHECK_CAUGHT(wake_races_close<AwaitRelaxed>());
}

TEST_CASE("quit races quit") {
  CHECK_HOLDS(quit_races_quit<Orders>());
  CHECK_CAUGHT(quit_races_quit<TwoSentinels>());
}

}  // namespace unjank::model
