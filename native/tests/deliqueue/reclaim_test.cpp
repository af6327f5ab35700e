// Tombstones: who takes them away, and when. The lock-free queue only.
#include <set>

#include "doctest/doctest.h"
#include "tests/deliqueue/fixtures.h"

namespace unjank::testing {

namespace {
constexpr std::int64_t kWeek = 7LL * 24 * 3600 * 1'000'000'000;
}

TEST_CASE("a cancelled timer does not wake the looper; a full batch of tombstones does, once") {
  Fixture<MessageQueue> f;
  f.sleep();
  f.queue.post(f.message(0, kWeek));
  f.waker.calls = 0;
  f.queue.finish_sleep();
  f.sleep();
  for (std::uint32_t i = 0; i < kReclaimBatch - 1; ++i) f.queue.cancel(f.queue.post(f.message(1, kWeek + 1)).handle);
  CHECK(f.waker.calls == 0);
  for (int i = 0; i < 100; ++i) f.queue.cancel(f.queue.post(f.message(1, kWeek + 1)).handle);
  CHECK(f.waker.calls == 1);
}

TEST_CASE("a million timers set for next week and cancelled need no more nodes than a few batches") {
  Fixture<MessageQueue> f;
  std::set<void*> nodes;
  f.sleep();
  for (int i = 0; i < 1'000'000; ++i) {
    const Handle handle = f.queue.post(f.message(1, kWeek)).handle;
    if (i % 61 == 0 || i < 10'000) nodes.insert(handle.node);
    REQUIRE(f.queue.cancel(handle));
    if (f.waker.calls.exchange(0) != 0) {  // the looper's turn
      f.queue.finish_sleep();
      f.sleep();
    }
  }
  CHECK(nodes.size() <= 4 * kReclaimBatch);
  CHECK(f.released == 1'000'000);
  CHECK(f.queue.backlog() <= kReclaimBatch);
}

TEST_CASE("one removal of more than a batch wakes the looper") {
  Fixture<MessageQueue> f;
  for (std::uint32_t i = 0; i < kReclaimBatch + 5; ++i) f.queue.post(f.message(1, kWeek));
  f.sleep();
  CHECK(f.queue.remove(f.all()).count == kReclaimBatch + 5);
  CHECK(f.waker.calls == 1);
  f.queue.finish_sleep();
  f.sleep();
  CHECK(f.queue.backlog() == 0);
  CHECK(f.queue.next().deadline_ns == kForever);
}

TEST_CASE("the looper does not sleep towards the deadline of a removed message") {
  Fixture<MessageQueue> f;
  f.queue.post(f.message(1, 2'000));
  f.queue.next();
  f.queue.remove(f.all());
  CHECK_FALSE(f.queue.prepare_sleep());
  CHECK(f.queue.next().deadline_ns == kForever);
  CHECK(f.queue.prepare_sleep());
}

TEST_CASE("messages removed before any sweep are reclaimed") {
  Fixture<MessageQueue> f;
  for (int i = 0; i < 10; ++i) f.queue.post(f.message(i, 10));
  for (int i = 0; i < 10; i += 2) f.queue.remove(f.with_what(i));
  CHECK(f.run() == Order{1, 3, 5, 7, 9});
  CHECK(f.queue.backlog() == 0);
}

}  // namespace unjank::testing
