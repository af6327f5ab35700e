// Threads that begin together: held until all of them are there. If one cannot be started, none of them works, and the error
// reaches whoever makes the group instead of ending the program.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "base/signals_blocked.h"

namespace unjank::bench {

class ThreadGroup {
 public:
  // Each thread runs work(index). Throws std::system_error.
  ThreadGroup(std::size_t count, std::function<void(std::size_t)> work) : ThreadGroup(std::move(work)) {
    const SignalsBlocked blocked;
    for (std::size_t i = 0; i < count; ++i) {
      threads_.emplace_back([this, i] {
        ready_.fetch_add(1);
        ready_.notify_one();
        gate_.wait(kShut);
        if (gate_.load() == kOpen) work_(i);
      });
    }
  }
  ThreadGroup(const ThreadGroup&) = delete;
  ThreadGroup& operator=(const ThreadGroup&) = delete;
  ~ThreadGroup() {
    int shut = kShut;
    if (gate_.compare_exchange_strong(shut, kCancelled)) gate_.notify_all();
    join();
  }

  // Waits until all are there, then lets them go.
  void release() {
    for (std::size_t ready = 0; (ready = ready_.load()) != threads_.size();) ready_.wait(ready);
    gate_ = kOpen;
    gate_.notify_all();
  }
  // After release().
  void join() {
    for (std::thread& thread : threads_) {
      if (thread.joinable()) thread.join();
    }
  }

 private:
  enum : int { kShut, kOpen, kCancelled };

  // The constructor that may fail builds on this one, so that the destructor runs then as well.
  explicit ThreadGroup(std::function<void(std::size_t)> work) : work_(std::move(work)) {}

  std::function<void(std::size_t)> work_;
  std::atomic<int> gate_{kShut};       // leaves kShut once: release(), or the destructor before it. Publishes what the maker wrote
  std::atomic<std::size_t> ready_{0};  // threads at the gate: each adds itself, release() waits for all
  std::vector<std::thread> threads_;
};

}  // namespace unjank::bench
