// What the queue tests share: a waker that counts, messages that count their releases, a fixture over both queues.
#pragma once

#include <atomic>
#include <cerrno>
#include <vector>

#include "base/clock.h"
#include "deliqueue/queue.h"
#include "legacy/queue.h"
#include "poll/waker.h"

namespace unjank::testing {

using namespace deliqueue;

class CountingWaker final : public poll::Waker {
 public:
  int wake() noexcept override {
    ++calls;
    return failure;
  }
  std::atomic<int> calls{0};
  std::atomic<int> failure{0};
};

// `data` points at a counter; releasing the message adds one to it.
inline void count_release(const Message& message) noexcept { ++*static_cast<std::atomic<int>*>(message.data); }

inline const void* identity(std::uintptr_t value) { return reinterpret_cast<const void*>(value); }

template <class QueueType>
struct Fixture {
  ManualClock clock{1'000};
  CountingWaker waker;
  std::atomic<int> released{0};
  QueueType queue{waker, clock};
  const void* const handler = identity(0x100);

  Message message(std::int64_t what, std::int64_t when) {
    return {.when_ns = when, .target = handler, .what = what, .data = &released, .release = count_release};
  }
  Message asynchronous(std::int64_t what, std::int64_t when) {
    Message m = message(what, when);
    m.flags = kAsynchronous;
    return m;
  }
  Message at_front(std::int64_t what) {
    Message m = message(what, 0);
    m.flags = kAtFront;
    return m;
  }
  Criteria all() const { return {.target = handler}; }
  Criteria with_what(std::int64_t what) const { return {.target = handler, .fields = Criteria::kWhat, .what = what}; }

  // The `what` of everything that is due now, in the order it is handed out.
  std::vector<std::int64_t> run() {
    std::vector<std::int64_t> order;
    for (Next next = queue.next(); next.kind == Next::Kind::kMessage; next = queue.next()) {
      order.push_back(next.message.what);
    }
    return order;
  }
  // Runs what is due and goes to sleep.
  void sleep() {
    do run();
    while (!queue.prepare_sleep());
  }
};

using Order = std::vector<std::int64_t>;

}  // namespace unjank::testing

#define BOTH_QUEUES unjank::deliqueue::MessageQueue, unjank::legacy::Queue
