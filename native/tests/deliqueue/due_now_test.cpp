// post_now(): order among timers without a clock, and when it needs one.
#include "doctest/doctest.h"
#include "tests/deliqueue/fixtures.h"

namespace unjank::testing {

namespace {

class CountingClock final : public Clock {
 public:
  std::int64_t now_ns() const override {
    ++reads;
    return now;
  }
  std::int64_t now = 1'000;
  mutable int reads = 0;
};

// The lock-free queue on a clock that counts.
struct Counted {
  CountingClock clock;
  CountingWaker waker;
  MessageQueue queue{waker, clock};

  // Did this post read the clock?
  bool reads_for_post_now(std::int64_t what = 0) {
    const int before = clock.reads;
    queue.post_now({.what = what});
    return clock.reads != before;
  }
  Order run() {
    Order order;
    for (Next next = queue.next(); next.kind == Next::Kind::kMessage; next = queue.next()) {
      order.push_back(next.message.what);
    }
    return order;
  }
};

}  // namespace

TEST_CASE_TEMPLATE("what is due now comes out in push order", Q, BOTH_QUEUES) {
  Fixture<Q> f;
  for (int i = 1; i <= 3; ++i) f.queue.post_now(f.message(i, 0));
  CHECK(f.run() == Order{1, 2, 3});
}

TEST_CASE_TEMPLATE("what is due now runs after what was due before and before what is due later", Q, BOTH_QUEUES) {
  Fixture<Q> f;
  f.queue.post_now(f.message(1, 0));
  f.queue.post(f.message(3, 1'005));
  f.queue.post_now(f.message(2, 0));
  f.clock.set(1'010);
  f.queue.post_now(f.message(4, 0));
  CHECK(f.run() == Order{1, 2, 3, 4});
}

TEST_CASE_TEMPLATE("its due time is that of the post, where others have one", Q, BOTH_QUEUES) {
  Fixture<Q> f;
  f.queue.post(f.message(1, 9'000));
  f.queue.post_now(f.message(2, 0));
  f.clock.set(1'500);
  CHECK(f.queue.next().message.when_ns == 1'000);
}

TEST_CASE("its due time is that of the hand-out, where none has one") {
  Fixture<MessageQueue> f;
  f.queue.post_now(f.message(1, 0));
  f.clock.set(1'500);
  CHECK(f.queue.next_due() == 1'500);
  f.queue.look([](const Sighting& sighting) { CHECK(sighting.when_ns == 1'500); });
  CHECK(f.queue.has_due());
  CHECK(f.queue.next().message.when_ns == 1'500);
}

TEST_CASE("a view shows it due no later than what was posted after it and runs after it") {
  Fixture<MessageQueue> f;
  f.queue.post_now(f.message(1, 0));
  f.queue.post(f.message(2, 1'200));
  f.queue.post(f.at_front(3));
  f.clock.set(1'500);
  std::vector<std::int64_t> due;
  f.queue.look([&](const Sighting& sighting) {
    if (!(sighting.flags & kAtFront)) due.push_back(sighting.when_ns);
  });
  CHECK(due == std::vector<std::int64_t>{1'200, 1'200});
  CHECK(f.run() == Order{3, 1, 2});
}

TEST_CASE("the clock is read only while something with a due time is pending") {
  Counted c;
  CHECK_FALSE(c.reads_for_post_now(1));
  c.queue.post({.when_ns = 1'000, .what = 2});
  CHECK(c.reads_for_post_now(3));
  CHECK(c.run() == Order{1, 2, 3});
  CHECK_FALSE(c.reads_for_post_now(4));
}

TEST_CASE("a timer that has not run yet keeps it being read") {
  Counted c;
  c.queue.post({.when_ns = 2'000, .what = 9});
  CHECK(c.reads_for_post_now(1));
  CHECK(c.run() == Order{1});
  CHECK(c.reads_for_post_now(2));
  c.clock.now = 2'000;
  CHECK(c.run() == Order{2, 9});
  CHECK_FALSE(c.reads_for_post_now());
}

TEST_CASE("a cancelled timer ends with its reclamation") {
  Counted c;
  const Handle timer = c.queue.post({.when_ns = 2'000}).handle;
  c.queue.cancel(timer);
  CHECK(c.reads_for_post_now(1));
  CHECK(c.run() == Order{1});
  CHECK_FALSE(c.reads_for_post_now());
}

TEST_CASE("a post at the front has no due time, a barrier has") {
  Counted c;
  c.queue.post({.flags = kAtFront});
  CHECK_FALSE(c.reads_for_post_now());
  const Handle barrier = c.queue.post_barrier(1'000).handle;
  CHECK(c.reads_for_post_now(5));
  CHECK(c.run() == Order{0, 0});
  c.queue.remove_barrier(barrier);
  CHECK(c.run() == Order{5});
  CHECK_FALSE(c.reads_for_post_now());
}

TEST_CASE_TEMPLATE("what is due now wakes the looper, and only once", Q, BOTH_QUEUES) {
  Fixture<Q> f;
  f.queue.post(f.message(9, 5'000));
  f.sleep();
  f.queue.post_now(f.message(1, 0));
  f.queue.post_now(f.message(2, 0));
  CHECK(f.waker.calls == 1);
  f.queue.finish_sleep();
  CHECK(f.run() == Order{1, 2});
}

TEST_CASE_TEMPLATE("a safe quit runs what was due now, a refused post leaves the message alone", Q, BOTH_QUEUES) {
  Fixture<Q> f;
  f.queue.post_now(f.message(1, 0));
  f.queue.quit(QuitMode::kSafe);
  CHECK(f.queue.post_now(f.message(2, 0)).status == PostStatus::kQuit);
  CHECK(f.run() == Order{1});
  CHECK(f.released == 0);
}

TEST_CASE_TEMPLATE("what is due now can be removed and cancelled", Q, BOTH_QUEUES) {
  Fixture<Q> f;
  const Handle first = f.queue.post_now(f.message(1, 0)).handle;
  f.queue.post_now(f.message(2, 0));
  f.queue.post_now(f.message(3, 0));
  CHECK(f.queue.cancel(first).count == 1);
  CHECK(f.queue.remove(f.with_what(2)).count == 1);
  CHECK(f.run() == Order{3});
  CHECK(f.released == 2);
}

}  // namespace unjank::testing
