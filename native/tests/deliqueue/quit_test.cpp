// Quitting: who keeps the message, what still runs, what is dropped.
#include <thread>

#include "doctest/doctest.h"
#include "tests/deliqueue/fixtures.h"

namespace unjank::testing {

TEST_CASE_TEMPLATE("after quit a post is refused and its message stays the caller's", Q, BOTH_QUEUES) {
  Fixture<Q> f;
  f.queue.quit(QuitMode::kDrop);
  CHECK(f.queue.quitting());
  const PostResult result = f.queue.post(f.message(1, 10));
  CHECK(result.status == PostStatus::kQuit);
  CHECK_FALSE(result.handle);
  CHECK(f.queue.post_barrier(10).status == PostStatus::kQuit);
  CHECK(f.released == 0);
}

TEST_CASE_TEMPLATE("quit drops everything and releases each message once", Q, BOTH_QUEUES) {
  Fixture<Q> f;
  f.queue.post(f.message(1, 10));
  f.queue.post(f.asynchronous(2, 10));
  f.queue.post(f.at_front(3));
  f.queue.post(f.message(4, 5'000));
  f.queue.post_barrier(10);
  f.queue.quit(QuitMode::kDrop);
  CHECK(f.queue.next().kind == Next::Kind::kQuit);
  CHECK(f.released == 4);
}

TEST_CASE_TEMPLATE("quit_safely runs what is due and drops the rest", Q, BOTH_QUEUES) {
  Fixture<Q> f;
  f.queue.post(f.message(1, 1'000));
  f.queue.post(f.message(2, 1'001));
  f.queue.post(f.at_front(3));
  f.queue.quit(QuitMode::kSafe);
  CHECK(f.run() == Order{3, 1});
  CHECK(f.released == 1);
  CHECK(f.queue.next().kind == Next::Kind::kQuit);
}

TEST_CASE_TEMPLATE("the first quit decides", Q, BOTH_QUEUES) {
  Fixture<Q> f;
  f.queue.post(f.message(1, 1'000));
  f.queue.quit(QuitMode::kSafe);
  f.queue.quit(QuitMode::kDrop);
  CHECK(f.run() == Order{1});
}

TEST_CASE_TEMPLATE("quit wakes a sleeping looper", Q, BOTH_QUEUES) {
  Fixture<Q> f;
  f.sleep();
  f.queue.quit(QuitMode::kDrop);
  CHECK(f.waker.calls == 1);
}

TEST_CASE_TEMPLATE("after close nobody touches the waker", Q, BOTH_QUEUES) {
  Fixture<Q> f;
  f.sleep();
  f.queue.close();
  f.queue.post(f.message(1, 10));
  f.queue.quit(QuitMode::kDrop);
  f.queue.wake();
  CHECK(f.waker.calls == 0);
}

TEST_CASE_TEMPLATE("the destructor releases what is left, once", Q, BOTH_QUEUES) {
  std::atomic<int> released{0};
  {
    Fixture<Q> f;
    for (int i = 0; i < 100; ++i) {
      Message m = f.message(i, i % 2 ? 10 : 5'000);
      m.data = &released;
      f.queue.post(m);
      if (i == 50) f.queue.next();  // handed out: not released
    }
    f.queue.remove(f.with_what(7));
    CHECK(released == 1);
  }
  CHECK(released == 99);
}

TEST_CASE_TEMPLATE("removal works on a queue that has quit", Q, BOTH_QUEUES) {
  Fixture<Q> f;
  f.queue.post(f.message(1, 1'000));
  f.queue.post(f.message(2, 1'000));
  f.queue.quit(QuitMode::kSafe);
  CHECK(f.queue.remove(f.with_what(1)).count == 1);
  CHECK(f.run() == Order{2});
  CHECK_FALSE(f.queue.has(f.all()));
}

TEST_CASE_TEMPLATE("a release that posts and removes finds the queue usable", Q, BOTH_QUEUES) {
  struct Reentrant {
    Q& queue;
    int calls = 0;
    static void release(const Message& m) noexcept {
      auto& self = *static_cast<Reentrant*>(m.data);
      ++self.calls;
      self.queue.post({.when_ns = 10, .target = identity(9), .what = 99});
      self.queue.remove({.target = identity(8)});
    }
  };
  Fixture<Q> f;
  Reentrant reentrant{f.queue};
  for (int i = 0; i < 3; ++i) {
    f.queue.post({.when_ns = 10, .target = identity(7), .data = &reentrant, .release = Reentrant::release});
  }
  CHECK(f.queue.remove({.target = identity(7)}).count == 3);
  CHECK(reentrant.calls == 3);
  CHECK(f.run() == Order{99, 99, 99});
}

TEST_CASE_TEMPLATE("quit racing posts: every accepted due message runs, every refused one stays the caller's", Q,
                   BOTH_QUEUES) {
  for (int round = 0; round < 12; ++round) {
    Fixture<Q> f;
    std::atomic<int> accepted{0};
    std::thread quitter([&] {
      while (accepted < 100) std::this_thread::yield();
      f.queue.quit(QuitMode::kSafe);
    });
    std::vector<std::thread> posters;
    for (int p = 0; p < 3; ++p) {
      posters.emplace_back([&] {
        while (f.queue.post(f.message(1, f.clock.now_ns()))) ++accepted;
      });
    }
    int ran = 0;
    for (Next n = f.queue.next(); n.kind != Next::Kind::kQuit; n = f.queue.next()) {
      ran += n.kind == Next::Kind::kMessage;
    }
    quitter.join();
    for (std::thread& t : posters) t.join();
    CHECK(ran == accepted);
    CHECK(f.released == 0);
  }
}

}  // namespace unjank::testing
