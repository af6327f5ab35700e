// Posting, order, removal, wake-ups: the same facts for the lock-free queue and the locked one.
#include <thread>

#include "doctest/doctest.h"
#include "tests/deliqueue/fixtures.h"

namespace unjank::testing {

TEST_CASE_TEMPLATE("messages come out by due time", Q, BOTH_QUEUES) {
  Fixture<Q> f;
  f.queue.post(f.message(3, 30));
  f.queue.post(f.message(1, 10));
  f.queue.post(f.message(2, 20));
  CHECK(f.run() == Order{1, 2, 3});
}

TEST_CASE_TEMPLATE("equal due times come out in push order, across sweeps too", Q, BOTH_QUEUES) {
  Fixture<Q> f;
  f.queue.post(f.message(1, 2'000));
  f.queue.post(f.message(2, 2'000));
  CHECK(f.run().empty());
  f.queue.post(f.message(3, 2'000));
  f.queue.post(f.message(4, 2'000));
  f.clock.set(2'000);
  CHECK(f.run() == Order{1, 2, 3, 4});
}

TEST_CASE_TEMPLATE("posts at the front run before everything, the newest first", Q, BOTH_QUEUES) {
  Fixture<Q> f;
  f.queue.post(f.message(1, INT64_MIN));
  f.queue.post(f.at_front(2));
  f.queue.post(f.at_front(3));
  CHECK(f.queue.next_due() == f.clock.now_ns());
  CHECK(f.run() == Order{3, 2, 1});
}

TEST_CASE_TEMPLATE("a message is not handed out before it is due", Q, BOTH_QUEUES) {
  Fixture<Q> f;
  f.queue.post(f.message(1, 1'001));
  const Next next = f.queue.next();
  CHECK(next.kind == Next::Kind::kWait);
  CHECK(next.deadline_ns == 1'001);
  CHECK(f.queue.next_due() == 1'001);
  f.clock.set(1'001);
  CHECK(f.run() == Order{1});
}

TEST_CASE_TEMPLATE("negative and huge due times neither overflow nor misorder", Q, BOTH_QUEUES) {
  Fixture<Q> f;
  f.queue.post(f.message(4, INT64_MAX));
  f.queue.post(f.message(2, -5));
  f.queue.post(f.message(1, INT64_MIN));
  f.queue.post(f.message(3, 0));
  CHECK(f.run() == Order{1, 2, 3});
  CHECK(f.queue.next().deadline_ns == kForever);
}

TEST_CASE_TEMPLATE("a message keeps every field", Q, BOTH_QUEUES) {
  Fixture<Q> f;
  int data = 0;
  f.queue.post({.when_ns = 7, .target = identity(1), .what = -2, .arg1 = INT64_MIN, .arg2 = INT64_MAX,
                .obj = identity(3), .callback = identity(4), .receiver = identity(5), .token = identity(6),
                .data = &data, .flags = kAsynchronous});
  const Message m = f.queue.next().message;
  CHECK(m.when_ns == 7);
  CHECK(m.target == identity(1));
  CHECK(m.what == -2);
  CHECK(m.arg1 == INT64_MIN);
  CHECK(m.arg2 == INT64_MAX);
  CHECK(m.obj == identity(3));
  CHECK(m.callback == identity(4));
  CHECK(m.receiver == identity(5));
  CHECK(m.token == identity(6));
  CHECK(m.data == &data);
  CHECK(m.asynchronous());
}

TEST_CASE_TEMPLATE("removal takes exactly the matching messages and releases each once", Q, BOTH_QUEUES) {
  Fixture<Q> f;
  for (int what : {1, 2, 1, 3}) f.queue.post(f.message(what, 10));
  CHECK(f.queue.remove(f.with_what(1)).count == 2);
  CHECK(f.released == 2);
  CHECK(f.run() == Order{2, 3});
  CHECK(f.released == 2);
  CHECK_FALSE(f.queue.remove(f.all()));
}

TEST_CASE_TEMPLATE("removal is bound to its target: handlers of one queue are isolated", Q, BOTH_QUEUES) {
  Fixture<Q> f;
  Message other = f.message(1, 10);
  other.target = identity(0x200);
  f.queue.post(f.message(1, 10));
  f.queue.post(other);
  CHECK(f.queue.remove(f.all()).count == 1);
  CHECK(f.run() == Order{1});
}

TEST_CASE_TEMPLATE("every match field narrows, by identity", Q, BOTH_QUEUES) {
  Fixture<Q> f;
  const Criteria exact{.target = f.handler,
                       .fields = Criteria::kWhat | Criteria::kObj | Criteria::kCallback | Criteria::kReceiver |
                                 Criteria::kToken,
                       .what = 1, .obj = identity(2), .callback = identity(3), .receiver = identity(4),
                       .token = identity(5)};
  Message m = f.message(1, 10);
  m.obj = exact.obj;
  m.callback = exact.callback;
  m.receiver = exact.receiver;
  f.queue.post(m);
  CHECK_FALSE(f.queue.has(exact));
  m.token = exact.token;
  f.queue.post(m);
  CHECK(f.queue.has(exact));
  CHECK(f.queue.remove(exact).count == 1);
  CHECK(f.run().size() == 1);
}

TEST_CASE_TEMPLATE("has() sees pending messages only", Q, BOTH_QUEUES) {
  Fixture<Q> f;
  f.queue.post(f.message(1, 10));
  f.queue.post(f.message(2, 5'000));
  CHECK(f.queue.has(f.with_what(1)));
  CHECK(f.queue.has_due());
  f.run();
  CHECK_FALSE(f.queue.has(f.with_what(1)));
  CHECK(f.queue.has(f.with_what(2)));
  CHECK_FALSE(f.queue.has_due());
}

TEST_CASE_TEMPLATE("cancel takes one message, once, and is harmless after it ran", Q, BOTH_QUEUES) {
  Fixture<Q> f;
  const Handle first = f.queue.post(f.message(1, 10)).handle;
  const Handle second = f.queue.post(f.message(2, 10)).handle;
  CHECK(f.queue.cancel(first));
  CHECK_FALSE(f.queue.cancel(first));
  CHECK(f.released == 1);
  CHECK(f.run() == Order{2});
  CHECK_FALSE(f.queue.cancel(second));
  CHECK_FALSE(f.queue.cancel({}));
}

TEST_CASE_TEMPLATE("a handle does not reach the message that reuses its node", Q, BOTH_QUEUES) {
  Fixture<Q> f;
  const Handle old = f.queue.post(f.message(1, 10)).handle;
  for (int i = 0; i < 1'000; ++i) {
    f.sleep();
    f.queue.finish_sleep();
    f.queue.post(f.message(2, 10));
    CHECK_FALSE(f.queue.cancel(old));
  }
}

TEST_CASE_TEMPLATE("a message removed during dispatch of another does not run", Q, BOTH_QUEUES) {
  Fixture<Q> f;
  for (int what : {1, 2, 3}) f.queue.post(f.message(what, 10));
  CHECK(f.queue.next().message.what == 1);
  f.queue.remove(f.with_what(2));
  CHECK(f.run() == Order{3});
}

TEST_CASE_TEMPLATE("look() shows pending messages and barriers, not what was removed", Q, BOTH_QUEUES) {
  Fixture<Q> f;
  f.queue.post(f.message(1, 10));
  f.queue.post(f.message(2, 20));
  f.queue.post_barrier(30);
  f.queue.remove(f.with_what(1));
  std::vector<Sighting> seen;
  f.queue.look([&](const Sighting& s) { seen.push_back(s); });
  REQUIRE(seen.size() == 2);
  CHECK(seen[0].barrier != seen[1].barrier);
  const Sighting& message = seen[0].barrier ? seen[1] : seen[0];
  CHECK(message.what == 2);
  CHECK(message.when_ns == 20);
  CHECK(message.target == f.handler);
}

TEST_CASE_TEMPLATE("an awake looper is never woken", Q, BOTH_QUEUES) {
  Fixture<Q> f;
  for (int i = 0; i < 1'000; ++i) f.queue.post(f.message(i, 10));
  CHECK(f.waker.calls == 0);
}

TEST_CASE_TEMPLATE("posts to a sleeping looper are coalesced into one wake-up", Q, BOTH_QUEUES) {
  Fixture<Q> f;
  f.sleep();
  for (int i = 0; i < 1'000; ++i) f.queue.post(f.message(i, 10));
  CHECK(f.waker.calls == 1);
}

TEST_CASE_TEMPLATE("only a post that is due before the looper's deadline wakes it", Q, BOTH_QUEUES) {
  Fixture<Q> f;
  f.queue.post(f.message(1, 5'000));
  f.sleep();
  f.queue.post(f.message(2, 6'000));
  f.queue.post(f.message(3, 5'000));
  CHECK(f.waker.calls == 0);
  f.queue.post(f.message(4, 4'999));
  CHECK(f.waker.calls == 1);
}

TEST_CASE_TEMPLATE("a post at the front wakes whatever the deadline", Q, BOTH_QUEUES) {
  Fixture<Q> f;
  f.queue.post(f.message(1, 1'001));
  f.sleep();
  f.queue.post(f.at_front(2));
  CHECK(f.waker.calls == 1);
}

TEST_CASE_TEMPLATE("a failed wake-up is reported to the poster, and the next poster tries again", Q, BOTH_QUEUES) {
  Fixture<Q> f;
  f.sleep();
  f.waker.failure = EBADF;
  const PostResult failed = f.queue.post(f.message(1, 500));
  CHECK(failed);
  CHECK(failed.wake_errno == EBADF);
  f.waker.failure = 0;
  CHECK(f.queue.post(f.message(2, 400)).wake_errno == 0);
  CHECK(f.waker.calls == 2);
}

TEST_CASE_TEMPLATE("a post between next() and prepare_sleep() keeps the looper awake", Q, BOTH_QUEUES) {
  Fixture<Q> f;
  CHECK(f.queue.next().kind == Next::Kind::kWait);
  f.queue.post(f.message(1, 10));
  CHECK_FALSE(f.queue.prepare_sleep());
  CHECK(f.run() == Order{1});
}

TEST_CASE_TEMPLATE("peeking at the next due time does not make the looper oversleep a new message", Q, BOTH_QUEUES) {
  Fixture<Q> f;
  CHECK(f.queue.next().kind == Next::Kind::kWait);
  f.queue.post(f.message(1, 1'500));
  CHECK(f.queue.next_due() == 1'500);
  CHECK_FALSE(f.queue.prepare_sleep());
  CHECK(f.queue.next().deadline_ns == 1'500);
  CHECK(f.queue.prepare_sleep());
}

TEST_CASE_TEMPLATE("wake() ends the sleep though nothing was posted", Q, BOTH_QUEUES) {
  Fixture<Q> f;
  CHECK(f.queue.wake() == 0);
  CHECK(f.waker.calls == 0);
  f.sleep();
  f.queue.wake();
  CHECK(f.waker.calls == 1);
}

TEST_CASE_TEMPLATE("backlog counts what is pending", Q, BOTH_QUEUES) {
  Fixture<Q> f;
  for (int i = 0; i < 5; ++i) f.queue.post(f.message(i, i < 2 ? 10 : 5'000));
  f.run();
  CHECK(f.queue.backlog() == 3);
}

TEST_CASE_TEMPLATE("many posters: nothing lost, nothing doubled, each poster's order kept", Q, BOTH_QUEUES) {
  constexpr int kPosters = 4;
  constexpr int kEach = 2'000;
  Fixture<Q> f;
  std::vector<std::thread> posters;
  for (int p = 0; p < kPosters; ++p) {
    posters.emplace_back([&, p] {
      for (int i = 0; i < kEach; ++i) f.queue.post(f.message(p * kEach + i, 10));
    });
  }
  std::vector<int> next(kPosters, 0);
  for (int seen = 0; seen < kPosters * kEach;) {
    const Next n = f.queue.next();
    if (n.kind != Next::Kind::kMessage) continue;
    const auto poster = n.message.what / kEach;
    REQUIRE(n.message.what % kEach == next[poster]++);
    ++seen;
  }
  for (std::thread& t : posters) t.join();
  CHECK(f.run().empty());
}

TEST_CASE("a preloaded backlog comes out like a posted one") {
  Fixture<legacy::Queue> posted;
  Fixture<legacy::Queue> preloaded;
  std::vector<Message> backlog;
  for (int i = 0; i < 200; ++i) {
    backlog.push_back(preloaded.message(i, i * 7919 % 50));
    posted.queue.post(posted.message(i, i * 7919 % 50));
  }
  CHECK(preloaded.queue.preload(backlog));
  CHECK_FALSE(preloaded.queue.preload(backlog));
  CHECK(preloaded.run() == posted.run());
}

}  // namespace unjank::testing
