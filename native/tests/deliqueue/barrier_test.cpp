// Sync barriers, and wake-ups behind them.
#include "doctest/doctest.h"
#include "tests/deliqueue/fixtures.h"

namespace unjank::testing {

TEST_CASE_TEMPLATE("behind a barrier only asynchronous messages run", Q, BOTH_QUEUES) {
  Fixture<Q> f;
  const Handle barrier = f.queue.post_barrier(f.clock.now_ns()).handle;
  f.queue.post(f.message(1, 1'000));
  f.queue.post(f.asynchronous(2, 1'000));
  CHECK(f.run() == Order{2});
  CHECK(f.queue.next().deadline_ns == kForever);
  CHECK(f.queue.remove_barrier(barrier));
  CHECK(f.run() == Order{1});
}

TEST_CASE_TEMPLATE("messages that sort before the barrier still run", Q, BOTH_QUEUES) {
  Fixture<Q> f;
  f.queue.post(f.message(1, 1'000));
  f.queue.post_barrier(1'000);
  f.queue.post(f.message(2, 999));
  f.queue.post(f.at_front(3));
  f.queue.post(f.message(4, 1'000));
  CHECK(f.run() == Order{3, 2, 1});
}

TEST_CASE_TEMPLATE("messages wait until every barrier before them is gone", Q, BOTH_QUEUES) {
  Fixture<Q> f;
  const Handle first = f.queue.post_barrier(1'000).handle;
  f.queue.post(f.message(1, 1'000));
  const Handle second = f.queue.post_barrier(1'000).handle;
  f.queue.post(f.message(2, 1'000));
  CHECK(f.run().empty());
  f.queue.remove_barrier(first);
  CHECK(f.run() == Order{1});
  f.queue.remove_barrier(second);
  CHECK(f.run() == Order{2});
}

TEST_CASE_TEMPLATE("a barrier is removed once, and never by remove() or cancel()", Q, BOTH_QUEUES) {
  Fixture<Q> f;
  const Handle barrier = f.queue.post_barrier(1'000).handle;
  CHECK_FALSE(f.queue.remove({.target = nullptr}));
  CHECK_FALSE(f.queue.cancel(barrier));
  CHECK(f.queue.remove_barrier(barrier));
  CHECK_FALSE(f.queue.remove_barrier(barrier));
  const Handle message = f.queue.post(f.message(1, 1'000)).handle;
  CHECK_FALSE(f.queue.remove_barrier(message));
}

TEST_CASE_TEMPLATE("behind a barrier an ordinary post lets the looper sleep, an asynchronous one wakes it", Q,
                   BOTH_QUEUES) {
  Fixture<Q> f;
  f.queue.post_barrier(1'000);
  f.sleep();
  f.queue.post(f.message(1, 1'000));
  CHECK(f.waker.calls == 0);
  f.queue.post(f.asynchronous(2, 1'000));
  CHECK(f.waker.calls == 1);
}

TEST_CASE_TEMPLATE("a post that sorts before the barrier wakes the looper", Q, BOTH_QUEUES) {
  Fixture<Q> f;
  f.queue.post_barrier(1'000);
  f.sleep();
  f.queue.post(f.message(1, 999));
  CHECK(f.waker.calls == 1);
}

TEST_CASE_TEMPLATE("removing a barrier wakes the looper", Q, BOTH_QUEUES) {
  Fixture<Q> f;
  const Handle barrier = f.queue.post_barrier(1'000).handle;
  f.queue.post(f.message(1, 1'000));
  f.sleep();
  CHECK(f.waker.calls == 0);
  f.queue.remove_barrier(barrier);
  CHECK(f.waker.calls == 1);
  f.queue.finish_sleep();
  CHECK(f.run() == Order{1});
}

TEST_CASE_TEMPLATE("quitting safely lifts barriers: what is due runs", Q, BOTH_QUEUES) {
  Fixture<Q> f;
  f.queue.post_barrier(1'000);
  f.queue.post(f.message(1, 1'000));
  f.queue.quit(QuitMode::kSafe);
  CHECK(f.run() == Order{1});
  CHECK(f.queue.next().kind == Next::Kind::kQuit);
}

}  // namespace unjank::testing
