// Random programs run on the lock-free queue and on the locked one: every answer must be the same.
#include <random>

#include "doctest/doctest.h"
#include "tests/deliqueue/fixtures.h"

namespace unjank::testing {

namespace {

struct Pair {
  Fixture<MessageQueue> ours;
  Fixture<legacy::Queue> oracle;
  std::vector<std::pair<Handle, Handle>> messages;
  std::vector<std::pair<Handle, Handle>> barriers;
  bool asleep = false;
  bool may_be_overdue = true;  // else some are due now, which a later post with a due time in the past may not overtake

  template <class Act>
  auto both(Act&& act) {
    return std::pair(act(ours), act(oracle));
  }
  void wake_up() {
    if (!std::exchange(asleep, false)) return;
    ours.queue.finish_sleep();
    oracle.queue.finish_sleep();
  }
};

using Random = std::mt19937;

Message random_message(auto& f, Random random, std::int64_t overdue) {
  Message m = f.message(random() % 4, static_cast<std::int64_t>(f.clock.now_ns() + random() % 40) - overdue);
  m.obj = identity(1 + random() % 3);
  m.token = identity(1 + random() % 3);
  m.target = random() % 4 ? f.handler : identity(0x300);
  m.flags = random() % 5 == 0 ? kAsynchronous : random() % 9 == 0 ? kAtFront : 0;
  return m;
}

Criteria random_criteria(auto& f, Random random) {
  return {.target = random() % 3 ? f.handler : identity(0x300),
          .fields = static_cast<std::uint8_t>(random() % 4 | (random() % 2 ? Criteria::kToken : 0)),
          .what = static_cast<std::int64_t>(random() % 4), .obj = identity(1 + random() % 3),
          .token = identity(1 + random() % 3)};
}

void post(Pair& p, Random& random) {
  Random seed = random;
  random.discard(8);
  const bool due_now = !p.may_be_overdue && seed() % 2;
  const auto [a, b] = p.both([&](auto& f) {
    const Message message = random_message(f, seed, p.may_be_overdue ? 10 : 0);
    return due_now && !message.at_front() ? f.queue.post_now(message) : f.queue.post(message);
  });
  REQUIRE(a.status == b.status);
  p.messages.emplace_back(a.handle, b.handle);
}

void step_looper(Pair& p) {
  p.wake_up();
  const auto [a, b] = p.both([](auto& f) { return f.queue.next(); });
  REQUIRE(a.kind == b.kind);
  if (a.kind == Next::Kind::kMessage) {
    REQUIRE(a.message.what == b.message.what);
    REQUIRE((!p.may_be_overdue || a.message.when_ns == b.message.when_ns));
    REQUIRE(a.message.obj == b.message.obj);
  } else {
    REQUIRE(a.deadline_ns == b.deadline_ns);
  }
}

void remove(Pair& p, Random& random) {
  const Random seed = random;
  random.discard(6);
  const auto [a, b] = p.both([&](auto& f) { return f.queue.remove(random_criteria(f, seed)).count; });
  REQUIRE(a == b);
}

void ask(Pair& p, Random& random) {
  const Random seed = random;
  random.discard(6);
  const auto [a, b] = p.both([&](auto& f) { return f.queue.has(random_criteria(f, seed)); });
  REQUIRE(a == b);
  REQUIRE(p.ours.queue.has_due() == p.oracle.queue.has_due());
}

void cancel(Pair& p, Random& random) {
  if (p.messages.empty()) return;
  const auto [a, b] = p.messages[random() % p.messages.size()];
  REQUIRE(p.ours.queue.cancel(a).count == p.oracle.queue.cancel(b).count);
}

void barrier(Pair& p, Random& random) {
  if (random() % 2 || p.barriers.empty()) {
    const auto [a, b] = p.both([](auto& f) { return f.queue.post_barrier(f.clock.now_ns()).handle; });
    p.barriers.emplace_back(a, b);
    return;
  }
  const auto [a, b] = p.barriers[random() % p.barriers.size()];
  REQUIRE(p.ours.queue.remove_barrier(a).count == p.oracle.queue.remove_barrier(b).count);
}

void advance(Pair& p, Random& random) {
  const std::int64_t by = random() % 8;
  p.ours.clock.advance(by);
  p.oracle.clock.advance(by);
}

void act(Pair& p, Random& random) {
  switch (random() % 16) {
    case 0: return remove(p, random);
    case 1: return ask(p, random);
    case 2: return cancel(p, random);
    case 3: return barrier(p, random);
    case 4: return advance(p, random);
    case 5: case 6: case 7: case 8: return step_looper(p);
    default: return post(p, random);
  }
}

void finish(Pair& p, Random& random) {
  const QuitMode mode = random() % 2 ? QuitMode::kSafe : QuitMode::kDrop;
  p.both([&](auto& f) { return f.queue.quit(mode); });
  const auto [a, b] = p.both([](auto& f) { return f.run(); });
  REQUIRE(a == b);
  REQUIRE(p.ours.queue.next().kind == Next::Kind::kQuit);
  REQUIRE(p.ours.released == p.oracle.released);
}

}  // namespace

TEST_CASE("both queues give the same answers to random programs") {
  for (unsigned seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    Pair pair;
    pair.may_be_overdue = seed % 2 == 0;
    for (int step = 0; step < 400; ++step) act(pair, random);
    finish(pair, random);
  }
}

}  // namespace unjank::testing
