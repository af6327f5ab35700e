// What the model tests share: a pool that knows reuse when it sees it, a modelled wake handle, a queue on both.
#pragma once

#include "base/clock.h"
#include "deliqueue/queue.h"
#include "tests/model/memory.h"

namespace unjank::model {

using namespace deliqueue;

// Never reuses a node; giving one back demands that nobody can still read it. `state` and `depth` stay readable, as
// type-stable memory is.
template <class O>
struct Pool {
  using NodeType = Node<Policy, O>;

  static NodeType* take() {
    auto node = std::make_shared<NodeType>();
    Execution::current().keep_memory(node);
    return node.get();
  }

  static void give_back(NodeType* first) {
    while (first != nullptr) {
      NodeType* const node = first;
      first = node->free_next.get();
      reuse(*node);
    }
  }

 private:
  static void reuse(NodeType& n) {
    const auto all = [](auto&... members) { (members.reuse(), ...); };
    all(n.next, n.target, n.what, n.obj, n.callback, n.receiver, n.token);
    all(n.when, n.arg1, n.arg2, n.data, n.release, n.back, n.free_next, n.slot);
  }
};

// An eventfd as the model sees it. It orders nothing: the queue must not lean on the kernel for that.
class WakeHandle final : public poll::Waker {
 public:
  int wake() noexcept override {
    Execution& run = Execution::current();
    run.step();
    run.require(!closed_, "a closed wake handle is written");
    descriptor_.get();
    signalled_ = true;
    ++writes;
    return 0;
  }
  void sleep() {
    Execution::current().block_until([this] { return signalled_; });
    signalled_ = false;
  }
  void close() {
    Execution::current().step();
    descriptor_.set(-1);
    closed_ = true;
  }
  int writes = 0;

 private:
  Plain<int> descriptor_;
  bool signalled_ = false;
  bool closed_ = false;
};

template <class O>
struct World {
  ManualClock clock{1'000};
  WakeHandle handle;
  int released = 0;
  std::vector<std::int64_t> ran;
  std::optional<Queue<Policy, Pool<O>, O>> queue;

  World() { queue.emplace(handle, clock); }

  Message message(std::int64_t what, std::int64_t when = 1'000) {
    return {.when_ns = when, .target = this, .what = what, .data = &released,
            .release = [](const Message& m) noexcept { ++*static_cast<int*>(m.data); }};
  }
  Criteria all() const { return {.target = this}; }
  Criteria with_what(std::int64_t what) const { return {.target = this, .fields = Criteria::kWhat, .what = what}; }

  // The looper: runs messages until it ran `count` of them, busily.
  void run_busily(std::size_t count) {
    while (ran.size() < count) {
      if (!take_one()) Policy::pause();
    }
  }
  // The looper: sleeps when there is nothing to do; until it ran `count`, or to the end.
  void run_and_sleep(std::size_t count = SIZE_MAX) {
    while (ran.size() < count) {
      const Next next = queue->next();
      if (next.kind == Next::Kind::kQuit) return;
      if (next.kind == Next::Kind::kMessage) {
        ran.push_back(next.message.what);
      } else if (queue->prepare_sleep()) {
        handle.sleep();
        queue->finish_sleep();
      }
    }
  }
  bool take_one() {
    const Next next = queue->next();
    if (next.kind == Next::Kind::kMessage) ran.push_back(next.message.what);
    return next.kind == Next::Kind::kMessage;
  }
};

template <class O>
std::shared_ptr<World<O>> make_world(Execution& run) {
  auto world = std::make_shared<World<O>>();
  run.keep(world);
  return world;
}

}  // namespace unjank::model

// The shipped orders pass every schedule within the bounds; the mutant, one line of Orders changed, fails.
#define CHECK_HOLDS(outcome)                      \
  do {                                            \
    const ::unjank::model::Outcome o = (outcome); \
    INFO(o.failure << " after " << o.schedule);   \
    MESSAGE(o.executions << " schedules");        \
    CHECK(o.failure.empty());                     \
    CHECK(o.complete);                            \
  } while (false)
#define CHECK_CAUGHT(outcome)                                       \
  do {                                                              \
    const ::unjank::model::Outcome o = (outcome);                   \
    INFO("no failure in " << o.executions << " schedules");         \
    CHECK_FALSE(o.failure.empty());                                 \
  } while (false)
// A mutant of Orders: CHANGED is one constant, VALUE what it is weakened to.
#define MUTANT(NAME, CHANGED, VALUE)                \
  struct NAME : ::unjank::deliqueue::Orders {       \
    static constexpr auto CHANGED = VALUE;          \
  }
