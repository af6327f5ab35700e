// post / sleep: no lost wake-up. A lost one leaves the looper asleep for ever: a deadlock of the model.
#include "doctest/doctest.h"
#include "tests/model/fixtures.h"

namespace unjank::model {

namespace {

template <class O>
Outcome post_races_sleep(Bounds bounds = {.preemptions = 3, .stale_reads = 2}) {
  return explore(bounds, [](Execution& run) {
    auto w = make_world<O>(run);
    run.spawn([w] { w->run_and_sleep(1); });
    run.spawn([w] { w->queue->post(w->message(1)); });
    run.finally([w, &run] { run.require(w->handle.writes <= 1, "woken more than once"); });
  });
}

// Two lone posters and a looper that sleeps more than once.
template <class O>
Outcome posts_race_sleep() {
  return explore({}, [](Execution& run) {
    auto w = make_world<O>(run);
    run.spawn([w] { w->run_and_sleep(2); });
    for (int i = 1; i <= 2; ++i) run.spawn([w, i] { w->queue->post(w->message(i)); });
  });
}

template <class O>
Outcome barrier_removal_races_sleep() {
  return explore({}, [](Execution& run) {
    auto w = make_world<O>(run);
    const Handle barrier = w->queue->post_barrier(1'000).handle;
    w->queue->post(w->message(1));
    run.spawn([w] { w->run_and_sleep(1); });
    run.spawn([w, barrier] { w->queue->remove_barrier(barrier); });
  });
}

// An asynchronous post to a looper that goes to sleep behind a barrier.
template <class O>
Outcome asynchronous_post_races_sleep() {
  return explore({}, [](Execution& run) {
    auto w = make_world<O>(run);
    w->queue->post_barrier(1'000);
    run.spawn([w] { w->run_and_sleep(1); });
    run.spawn([w] {
      Message m = w->message(1);
      m.flags = kAsynchronous;
      w->queue->post(m);
    });
  });
}

MUTANT(PushReleases, kPush, std::memory_order_acq_rel);
MUTANT(RecheckAcquires, kRecheckTop, std::memory_order_acquire);
MUTANT(FallAsleepReleases, kFallAsleep, std::memory_order_release);
MUTANT(ReadSleeperAcquires, kReadSleeper, std::memory_order_acquire);
MUTANT(NoRecheck, kRecheckBeforeSleep, false);
MUTANT(BuryReleases, kBury, std::memory_order_acq_rel);
MUTANT(GravesAcquire, kRecheckGraves, std::memory_order_acquire);

}  // namespace

TEST_CASE("post races sleep") {
  CHECK_HOLDS(post_races_sleep<Orders>());
  CHECK_CAUGHT(post_races_sleep<PushReleases>());
  CHECK_CAUGHT(post_races_sleep<RecheckAcquires>());
  CHECK_CAUGHT(post_races_sleep<FallAsleepReleases>());
  CHECK_CAUGHT(post_races_sleep<ReadSleeperAcquires>());
  CHECK_CAUGHT(post_races_sleep<NoRecheck>());
}

TEST_CASE("several posts race sleep") {
  CHECK_HOLDS(posts_race_sleep<Orders>());
  CHECK_CAUGHT(posts_race_sleep<NoRecheck>());
}

TEST_CASE("barrier removal races sleep") {
  CHECK_HOLDS(barrier_removal_races_sleep<Orders>());
  CHECK_CAUGHT(barrier_removal_races_sleep<BuryReleases>());
  CHECK_CAUGHT(barrier_removal_races_sleep<GravesAcquire>());
}

TEST_CASE("an asynchronous post races sleep behind a barrier") {
  CHECK_HOLDS(asynchronous_post_races_sleep<Orders>());
  CHECK_CAUGHT(asynchronous_post_races_sleep<ReadSleeperAcquires>());
}

}  // namespace unjank::model
