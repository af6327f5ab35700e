// traverse / unlink: no node is reused under a visitor.
#include "doctest/doctest.h"
#include "tests/model/fixtures.h"

namespace unjank::model {

namespace {

// The queue's own parts and nothing else, so that the search goes deep: the looper unlinks three nodes, and moves on
// an epoch after each; a visitor walks the stack meanwhile.
template <class O>
struct Parts {
  Stack<Policy, O> stack;
  TraversalGate<Policy, O> gate;
  Limbo<Policy, Pool<O>, O> limbo{gate};
  std::vector<Node<Policy, O>*> nodes;

  explicit Parts(int count) {
    for (int i = 0; i < count; ++i) {
      nodes.push_back(Pool<O>::take());
      nodes.back()->fill({.target = this}, Kind::kMessage, 0);
      stack.push(nodes.back(), 0);
    }
    stack.sweep([](auto*) {});
  }

  void unlink_all() {
    for (auto* node : nodes) {
      stack.unlink(node);
      limbo.retire(node);
      limbo.collect();
    }
    limbo.collect();
    limbo.collect();
  }
  void visit() {
    const typename TraversalGate<Policy, O>::Visit inside(gate);
    for (auto* node = stack.first(); node != nullptr; node = stack.below(node)) node->match_target();
  }
};

template <class O>
Outcome traverse_races_unlink(Bounds bounds = {.preemptions = 3, .stale_reads = 2}) {
  return explore(bounds, [](Execution& run) {
    auto parts = std::make_shared<Parts<O>>(2);
    run.keep(parts);
    run.spawn([parts] { parts->unlink_all(); });
    run.spawn([parts] { parts->visit(); });
  });
}

template <class O>
Outcome two_visitors_race_unlink() {
  return explore({.preemptions = 2, .stale_reads = 1}, [](Execution& run) {
    auto parts = std::make_shared<Parts<O>>(2);
    run.keep(parts);
    run.spawn([parts] { parts->unlink_all(); });
    for (int i = 0; i < 2; ++i) run.spawn([parts] { parts->visit(); });
  });
}

// All of the queue: has_due() reads due times, which are not atomic, of nodes that come and go.
template <class O>
Outcome traverse_races_push_and_pop(Bounds bounds = {}) {
  return explore(bounds, [](Execution& run) {
    auto w = make_world<O>(run);
    w->queue->post(w->message(1, 2'000));
    run.spawn([w] {
      w->take_one();
      if (w->queue->prepare_sleep()) w->queue->finish_sleep();
      w->take_one();
    });
    run.spawn([w] { w->queue->has_due(); });
    run.spawn([w] { w->queue->post(w->message(2)); });
    run.finally([w] { w->queue.reset(); });
  });
}

MUTANT(NoDeferral, kDeferReuse, false);
MUTANT(TraverseRelaxed, kTraverse, std::memory_order_relaxed);
MUTANT(NoRecheck, kRecheckEpoch, false);
MUTANT(EnterAcquires, kEnter, std::memory_order_acq_rel);
MUTANT(ConfirmRelaxed, kConfirmEpoch, std::memory_order_relaxed);
MUTANT(LeaveRelaxed, kLeave, std::memory_order_relaxed);
MUTANT(AdvanceReleases, kAdvance, std::memory_order_release);
MUTANT(CountAcquires, kCountVisitors, std::memory_order_acquire);

}  // namespace

TEST_CASE("traverse races unlink") {
  CHECK_HOLDS(traverse_races_unlink<Orders>());
  CHECK_HOLDS(two_visitors_race_unlink<Orders>());
}

TEST_CASE("traverse races unlink: every weakening is caught") {
  CHECK_CAUGHT(traverse_races_unlink<NoDeferral>());
  CHECK_CAUGHT(traverse_races_unlink<NoRecheck>());
  CHECK_CAUGHT(traverse_races_unlink<EnterAcquires>());
  CHECK_CAUGHT(traverse_races_unlink<ConfirmRelaxed>());
  CHECK_CAUGHT(traverse_races_unlink<LeaveRelaxed>());
  CHECK_CAUGHT(traverse_races_unlink<AdvanceReleases>());
  CHECK_CAUGHT(traverse_races_unlink<CountAcquires>());
}

TEST_CASE("traverse races push and pop of the whole queue") {
  CHECK_HOLDS(traverse_races_push_and_pop<Orders>({.preemptions = 2, .stale_reads = 0, .random_executions = 20'000}));
  CHECK_CAUGHT(traverse_races_push_and_pop<NoDeferral>());
  CHECK_CAUGHT(traverse_races_push_and_pop<TraverseRelaxed>());
}

}  // namespace unjank::model
