// A looper thread over a queue and a poller: the loop a binding writes, as a test and benchmark double.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <thread>

#include "base/clock.h"
#include "deliqueue/message.h"
#include "poll/poller.h"

namespace unjank::testing {

// Runs until it is destroyed, which quits the queue. By default a message adds one to the counter in its `data`.
template <class Q>
class NativeLooper {
 public:
  NativeLooper() : opened_(poller.open()), thread_([this] { run(); }) {}
  NativeLooper(const NativeLooper&) = delete;
  NativeLooper& operator=(const NativeLooper&) = delete;
  ~NativeLooper() {
    queue.quit(deliqueue::QuitMode::kDrop);
    thread_.join();
  }

  MonotonicClock clock;
  poll::Poller poller;
  Q queue{poller, clock};
  // Set before the first post.
  std::function<void(const deliqueue::Message&)> on_message = [](const deliqueue::Message& message) {
    if (message.data) static_cast<std::atomic<int>*>(message.data)->fetch_add(1);
  };

 private:
  void run() {
    using Kind = deliqueue::Next::Kind;
    for (deliqueue::Next next = queue.next(); next.kind != Kind::kQuit; next = queue.next()) {
      if (next.kind == Kind::kMessage) {
        on_message(next.message);
      } else {
        sleep(next.deadline_ns);
      }
    }
    queue.close();
    poller.close();
  }

  void sleep(std::int64_t deadline) {
    if (!queue.prepare_sleep()) return;
    std::array<poll::Event, 1> events;
    poller.wait(poll::timeout_until(deadline, clock.now_ns()), events);
    queue.finish_sleep();
  }

  int opened_;
  std::thread thread_;
};

}  // namespace unjank::testing
