// push / sweep: what producers publish and how the looper finds it; due now / timed: what needs no clock.
#include <algorithm>

#include "doctest/doctest.h"
#include "tests/model/fixtures.h"

namespace unjank::model {

namespace {

template <class O>
void check_all_ran(Execution& run, World<O>& w, const std::vector<std::int64_t>& expected) {
  run.require(w.ran == expected, "lost, doubled or out of order");
  w.queue.reset();
  run.require(w.released == 0, "a message was both run and released");
}

// Two producers, one looper.
template <class O>
Outcome push_races_sweep(Bounds bounds = {}) {
  return explore(bounds, [](Execution& run) {
    auto w = make_world<O>(run);
    for (int i = 1; i <= 2; ++i) run.spawn([w, i] { w->queue->post(w->message(i)); });
    run.spawn([w] { w->run_busily(2); });
    run.finally([w, &run] {
      std::sort(w->ran.begin(), w->ran.end());
      check_all_ran(run, *w, {1, 2});
    });
  });
}

// One producer: its order is kept, however the sweeps cut it.
template <class O>
Outcome sweep_keeps_order() {
  return explore({}, [](Execution& run) {
    auto w = make_world<O>(run);
    run.spawn([w] {
      for (int i = 1; i <= 3; ++i) w->queue->post(w->message(i));
    });
    run.spawn([w] { w->run_busily(3); });
    run.finally([w, &run] { check_all_ran(run, *w, {1, 2, 3}); });
  });
}

// The looper unlinks from top and middle while a producer pushes.
template <class O>
Outcome push_races_unlink() {
  return explore({.preemptions = 3}, [](Execution& run) {
    auto w = make_world<O>(run);
    w->queue->post(w->message(1));
    w->queue->post(w->message(2, 5'000));
    run.spawn([w] { w->queue->post(w->message(3)); });
    run.spawn([w] { w->run_busily(2); });
    run.finally([w, &run] {
      run.require(w->ran == std::vector<std::int64_t>{1, 3}, "lost, doubled or out of order");
      w->queue.reset();
      run.require(w->released == 1, "the message left over is released once");
    });
  });
}

template <class O>
void check_two_before_three(Execution& run, World<O>& w) {
  const auto place = [&](int what) { return std::find(w.ran.begin(), w.ran.end(), what) - w.ran.begin(); };
  run.require(place(2) < place(3), "what is due now overtook what was due before it");
  std::sort(w.ran.begin(), w.ran.end());
  check_all_ran(run, w, {1, 2, 3});
}

// One producer: a timed message, one at the front, then one due now, which may not go untimed.
template <class O>
Outcome due_now_races_timed() {
  return explore({}, [](Execution& run) {
    auto w = make_world<O>(run);
    run.spawn([w] {
      w->queue->post(w->message(2));
      Message front = w->message(1);
      front.flags = kAtFront;
      w->queue->post(front);
      w->queue->post_now(w->message(3));
    });
    run.spawn([w] { w->run_busily(3); });
    run.finally([w, &run] { check_two_before_three(run, *w); });
  });
}

// The looper takes a timed message off the top while an older one, due later, stays: then something is due now.
template <class O>
Outcome due_now_races_unlink() {
  return explore({}, [](Execution& run) {
    auto w = make_world<O>(run);
    run.spawn([w] {
      w->queue->post(w->message(2, 1'000));
      w->queue->post(w->message(1, 500));
      w->queue->post_now(w->message(3));
    });
    run.spawn([w] { w->run_busily(3); });
    run.finally([w, &run] { check_two_before_three(run, *w); });
  });
}

MUTANT(MarkLostByPush, kKeepMark, false);
MUTANT(MarkLostByUnlink, kKeepMarkOnUnlink, false);
MUTANT(PushRelaxed, kPush, std::memory_order_relaxed);
MUTANT(SweepRelaxed, kSweep, std::memory_order_relaxed);

}  // namespace

TEST_CASE("push races sweep") {
  CHECK_HOLDS(push_races_sweep<Orders>());
  CHECK_CAUGHT(push_races_sweep<PushRelaxed>());
  CHECK_CAUGHT(push_races_sweep<SweepRelaxed>());
}

TEST_CASE("a producer's order survives any cut into sweeps") { CHECK_HOLDS(sweep_keeps_order<Orders>()); }

TEST_CASE("push races unlink") { CHECK_HOLDS(push_races_unlink<Orders>()); }

TEST_CASE("due now races timed") {
  CHECK_HOLDS(due_now_races_timed<Orders>());
  CHECK_CAUGHT(due_now_races_timed<MarkLostByPush>());
}

TEST_CASE("due now races the unlinking of a timed message") {
  CHECK_HOLDS(due_now_races_unlink<Orders>());
  CHECK_CAUGHT(due_now_races_unlink<MarkLostByUnlink>());
}

TEST_CASE("push races sweep, at random and without bounds") {
  CHECK_HOLDS(push_races_sweep<Orders>({.preemptions = 0, .stale_reads = 0, .random_executions = 20'000}));
}

}  // namespace unjank::model
