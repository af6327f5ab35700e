// Queue and poller together, with real sleeping threads: no lost wake-up. A lost one hangs the test; ctest ends it.
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <thread>

#include "base/clock.h"
#include "deliqueue/queue.h"
#include "doctest/doctest.h"
#include "legacy/queue.h"
#include "tests/poll/native_looper.h"

namespace unjank::testing {

using namespace deliqueue;

#define BOTH_QUEUES unjank::deliqueue::MessageQueue, unjank::legacy::Queue

TEST_CASE_TEMPLATE("the last lone message is delivered though nobody posts again", Q, BOTH_QUEUES) {
  NativeLooper<Q> looper;
  std::atomic<int> ran{0};
  for (int i = 0; i < 2'000; ++i) {
    REQUIRE(looper.queue.post({.data = &ran}).wake_errno == 0);
    while (ran.load() != i + 1) std::this_thread::yield();
  }
}

TEST_CASE_TEMPLATE("two threads that answer each other never both sleep", Q, BOTH_QUEUES) {
  NativeLooper<Q> ping;
  NativeLooper<Q> pong;
  std::atomic<int> left{2'000};
  std::atomic<bool> done{false};
  const auto bounce = [&](NativeLooper<Q>& to) {
    return [&](const Message&) {
      if (left.fetch_sub(1) > 0) {
        to.queue.post({});
      } else {
        done.store(true);
        done.notify_all();
      }
    };
  };
  ping.on_message = bounce(pong);
  pong.on_message = bounce(ping);
  ping.queue.post({});
  done.wait(false);
}

TEST_CASE_TEMPLATE("a timer fires though it is posted to a looper that sleeps for longer", Q, BOTH_QUEUES) {
  NativeLooper<Q> looper;
  std::atomic<int> ran{0};
  looper.queue.post({.when_ns = looper.queue.now_ns() + 3'600'000'000'000, .data = &ran});
  for (int i = 0; i < 200; ++i) {
    looper.queue.post({.when_ns = looper.queue.now_ns() + 20'000, .data = &ran});
    while (ran.load() != i + 1) std::this_thread::yield();
  }
}

TEST_CASE_TEMPLATE("quit ends the loop whatever the looper is about to do", Q, BOTH_QUEUES) {
  for (int i = 0; i < 300; ++i) {
    NativeLooper<Q> looper;
    std::thread poster([&] {
      while (looper.queue.post({})) {
      }
    });
    looper.queue.quit(i % 2 ? QuitMode::kSafe : QuitMode::kDrop);
    poster.join();
  }
}

TEST_CASE_TEMPLATE("posters from several threads wake one sleeper each time", Q, BOTH_QUEUES) {
  NativeLooper<Q> looper;
  std::atomic<int> ran{0};
  for (int round = 1; round <= 200; ++round) {
    std::array<std::thread, 3> posters;
    for (std::thread& t : posters) t = std::thread([&] { looper.queue.post({.data = &ran}); });
    for (std::thread& t : posters) t.join();
    while (ran.load() != 3 * round) std::this_thread::yield();
  }
}

// Each change moves the looper between its two places to sleep.
TEST_CASE_TEMPLATE("lone messages are delivered while listeners come and go", Q, BOTH_QUEUES) {
  NativeLooper<Q> looper;
  std::atomic<int> ran{0};
  std::atomic<bool> ended{false};
  const int idle = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  std::thread listener([&] {
    for (std::uint64_t id = 1; !ended.load(); ++id) {
      CHECK(looper.poller.add(idle, poll::kReadable, id) == 0);
      std::this_thread::yield();
      CHECK(looper.poller.remove(idle) == 0);
      std::this_thread::yield();
    }
  });
  for (int i = 0; i < 2'000; ++i) {
    REQUIRE(looper.queue.post({.data = &ran}).wake_errno == 0);
    while (ran.load() != i + 1) std::this_thread::yield();
  }
  ended.store(true);
  listener.join();
  ::close(idle);
}

}  // namespace unjank::testing
