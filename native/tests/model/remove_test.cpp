// remove / pop and remove / unlink: one owner per payload, and reuse only after the remover is done.
#include "doctest/doctest.h"
#include "tests/model/fixtures.h"

namespace unjank::model {

namespace {

template <class O>
void check_once_each(Execution& run, World<O>& w, int messages) {
  w.queue.reset();
  run.require(w.released + static_cast<int>(w.ran.size()) == messages, "a message was lost, or run and released");
}

// The looper pops what a remover wants.
template <class O>
Outcome remove_races_pop() {
  return explore({}, [](Execution& run) {
    auto w = make_world<O>(run);
    w->queue->post(w->message(1));
    w->queue->post(w->message(2));
    run.spawn([w] {
      w->take_one();
      w->take_one();
    });
    run.spawn([w] { w->queue->remove(w->with_what(1)); });
    run.finally([w, &run] { check_once_each(run, *w, 2); });
  });
}

// Two removers want the same message.
template <class O>
Outcome remove_races_cancel() {
  return explore({}, [](Execution& run) {
    auto w = make_world<O>(run);
    const Handle handle = w->queue->post(w->message(1)).handle;
    run.spawn([w] { w->queue->remove(w->all()); });
    run.spawn([w, handle] { w->queue->cancel(handle); });
    run.finally([w, &run] { check_once_each(run, *w, 1); });
  });
}

// The looper takes tombstones out and reuses them while removers still bury others.
template <class O>
Outcome remove_races_unlink() {
  return explore({}, [](Execution& run) {
    auto w = make_world<O>(run);
    for (int i = 1; i <= 2; ++i) w->queue->post(w->message(i, 5'000));
    run.spawn([w] {
      w->queue->next();
      for (int i = 0; i < 2; ++i) {
        if (w->queue->prepare_sleep()) w->queue->finish_sleep();
        w->queue->next();
      }
    });
    run.spawn([w] { w->queue->remove(w->with_what(1)); });
    run.finally([w, &run] { check_once_each(run, *w, 2); });
  });
}

// Posted and removed before the looper's sweep: the node has no back-link yet, and others lie below it.
template <class O>
Outcome remove_races_sweep() {
  return explore({}, [](Execution& run) {
    auto w = make_world<O>(run);
    w->queue->post(w->message(1));
    run.spawn([w] { w->run_busily(2); });
    run.spawn([w] {
      w->queue->post(w->message(2));
      w->queue->cancel(w->queue->post(w->message(3, 5'000)).handle);
    });
    run.finally([w, &run] {
      run.require(w->ran == std::vector<std::int64_t>{1, 2}, "lost or out of order");
      check_once_each(run, *w, 3);
    });
  });
}

MUTANT(ClaimByStore, kClaimByCas, false);
MUTANT(BuryRelaxed, kBury, std::memory_order_relaxed);
MUTANT(ExhumeRelaxed, kExhume, std::memory_order_relaxed);
MUTANT(UnlinkUnswept, kSweepBeforeUnlink, false);

}  // namespace

TEST_CASE("remove races pop") {
  CHECK_HOLDS(remove_races_pop<Orders>());
  CHECK_CAUGHT(remove_races_pop<ClaimByStore>());
}

TEST_CASE("remove races cancel") {
  CHECK_HOLDS(remove_races_cancel<Orders>());
  CHECK_CAUGHT(remove_races_cancel<ClaimByStore>());
}

TEST_CASE("remove races unlink") {
  CHECK_HOLDS(remove_races_unlink<Orders>());
  CHECK_CAUGHT(remove_races_unlink<BuryRelaxed>());
  CHECK_CAUGHT(remove_races_unlink<ExhumeRelaxed>());
}

TEST_CASE("remove races sweep") {
  CHECK_HOLDS(remove_races_sweep<Orders>());
  CHECK_CAUGHT(remove_races_sweep<UnlinkUnswept>());
}

}  // namespace unjank::model
