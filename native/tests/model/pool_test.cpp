// give back / take: a node is filled again only after its last reader is done.
#include "doctest/doctest.h"
#include "tests/model/fixtures.h"

namespace unjank::model {

namespace {

// Two loopers give nodes back, read before; the owner takes and fills them.
template <class O>
Outcome give_back_races_take() {
  struct State {
    NodeStock<Policy, O> stock;
    std::array<Node<Policy, O>, 2> nodes;
    int taken = 0;
  };
  return explore({}, [](Execution& run) {
    auto s = std::make_shared<State>();
    run.keep(s);
    for (auto& node : s->nodes) node.fill({.arg1 = 7}, Kind::kMessage, 0);
    for (auto& node : s->nodes) {
      run.spawn([s, &node] {
        node.message();
        s->stock.give_back(&node, &node);
      });
    }
    run.spawn([s] {
      while (s->taken < 2) {
        auto* const node = s->stock.take();
        if (node == nullptr) {
          Policy::pause();
          continue;
        }
        ++s->taken;
        node->fill({.arg1 = 8}, Kind::kMessage, 0);
      }
    });
    run.finally([s, &run] { run.require(s->stock.take() == nullptr, "a node is in stock twice"); });
  });
}

MUTANT(GiveBackRelaxed, kGiveBack, std::memory_order_relaxed);
MUTANT(TakeBackRelaxed, kTakeBack, std::memory_order_relaxed);

}  // namespace

TEST_CASE("give back races take") {
  CHECK_HOLDS(give_back_races_take<Orders>());
  CHECK_CAUGHT(give_back_races_take<GiveBackRelaxed>());
  CHECK_CAUGHT(give_back_races_take<TakeBackRelaxed>());
}

}  // namespace unjank::model
