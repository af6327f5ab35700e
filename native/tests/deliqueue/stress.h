// Mixed operations over the whole API from several threads, against a sleeping looper; every message is accounted for.
#pragma once

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "tests/poll/native_looper.h"

namespace unjank::testing {

using namespace deliqueue;

inline void stress_require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "stress: %s\n", what);
  std::abort();
}

// A message's fate. `written` is not atomic: the queue must order it before the end, as TSan checks.
struct Slot {
  std::uint64_t written = 0;
  std::atomic<std::uint8_t> ended{0};  // run or released

  void end(std::uint64_t expected) {
    stress_require(written == expected, "a message was seen before it was written");
    stress_require(ended.fetch_add(1, std::memory_order_relaxed) == 0, "a message ended twice");
  }
};

inline void end_slot(const Message& message) noexcept {
  static_cast<Slot*>(message.data)->end(static_cast<std::uint64_t>(message.arg1));
}

// One thread's share of a round.
template <class Q>
class StressThread {
 public:
  StressThread(NativeLooper<Q>& looper, unsigned seed, std::size_t operations)
      : looper_(looper), random_(seed), slots_(operations) {}

  void run() {
    for (std::size_t i = 0; i < slots_.size(); ++i) act(i);
    for (Handle barrier : barriers_) looper_.queue.remove_barrier(barrier);
  }

  std::size_t accepted() const { return accepted_; }
  std::size_t ended() const {
    std::size_t count = 0;
    for (const Slot& slot : slots_) count += slot.ended.load(std::memory_order_relaxed);
    return count;
  }
  std::size_t refused() const { return refused_; }

  // The last message of a quiet queue: nobody posts or wakes after it. A lost wake-up hangs here.
  void lone_message() {
    std::atomic<int> ran{0};
    if (!looper_.queue.post({.what = kLone, .data = &ran, .flags = kAsynchronous})) return;
    ran.wait(0);
  }

  static constexpr std::int64_t kLone = -1;

 private:
  static constexpr std::int64_t kNow = INT64_MIN;

  void act(std::size_t i) {
    switch (random_() % 32) {
      case 0: looper_.queue.remove(criteria()); break;
      case 1: looper_.queue.has(criteria()); break;
      case 2: looper_.queue.has_due(); break;
      case 3: look(); break;
      case 4: looper_.queue.wake(); break;
      case 5: case 6: barrier(); break;
      case 7: case 8: case 9: case 10: case 11: cancel(); break;
      default: post(slots_[i], i); break;
    }
  }

  void post(Slot& slot, std::size_t i) {
    slot.written = i * 0x9e3779b97f4a7c15;
    const std::int64_t when = due();
    Message m{.when_ns = when, .target = target(), .what = static_cast<std::int64_t>(random_() % 4),
              .arg1 = static_cast<std::int64_t>(slot.written), .data = &slot, .release = end_slot,
              .flags = flags()};
    const PostResult result = when == kNow ? looper_.queue.post_now(m) : looper_.queue.post(m);
    stress_require(result.wake_errno == 0, "the wake-up failed");
    accepted_ += static_cast<bool>(result);
    refused_ += !result;
    if (result && random_() % 2) handles_.push_back(result.handle);
  }

  std::int64_t due() {
    const std::int64_t now = looper_.queue.now_ns();
    switch (random_() % 4) {
      case 0: return now + static_cast<std::int64_t>(random_() % 200'000);
      case 1: return now + 3'600'000'000'000;  // an hour: only a removal or the end of the round ends it
      case 2: return now;
      default: return kNow;
    }
  }
  std::uint8_t flags() { return random_() % 16 == 0 ? kAtFront : random_() % 4 == 0 ? kAsynchronous : 0; }
  const void* target() { return reinterpret_cast<const void*>(1 + random_() % 3); }
  Criteria criteria() {
    return {.target = target(), .fields = Criteria::kWhat, .what = static_cast<std::int64_t>(random_() % 4)};
  }

  void look() {
    looper_.queue.look([](const Sighting& s) { stress_require(s.barrier || s.target != nullptr, "a torn sighting"); });
  }

  void barrier() {
    if (!barriers_.empty()) {
      stress_require(looper_.queue.remove_barrier(barriers_.back()).count <= 1, "a barrier was removed twice");
      barriers_.pop_back();
    } else if (const PostResult posted = looper_.queue.post_barrier(looper_.queue.now_ns())) {
      barriers_.push_back(posted.handle);
    }
  }

  void cancel() {
    if (handles_.empty()) return;
    looper_.queue.cancel(handles_.front());
    handles_.pop_front();
  }

  NativeLooper<Q>& looper_;
  std::mt19937 random_;
  std::vector<Slot> slots_;
  std::deque<Handle> handles_;
  std::vector<Handle> barriers_;
  std::size_t accepted_ = 0;
  std::size_t refused_ = 0;
};

inline void handle_stress_message(const Message& message) {
  if (message.what == StressThread<int>::kLone) {
    auto& ran = *static_cast<std::atomic<int>*>(message.data);
    ran.store(1);
    ran.notify_one();
  } else {
    end_slot(message);
  }
}

// A round: threads act, a lone message ends it; every other round quits in the middle. Returns the operations done.
template <class Q>
std::size_t stress_round(unsigned seed, std::size_t operations_per_thread) {
  constexpr unsigned kThreads = 4;
  std::vector<std::unique_ptr<StressThread<Q>>> parts;
  {
    NativeLooper<Q> looper;
    looper.on_message = handle_stress_message;
    for (unsigned t = 0; t < kThreads; ++t) {
      parts.push_back(std::make_unique<StressThread<Q>>(looper, seed * kThreads + t, operations_per_thread));
    }
    std::vector<std::thread> threads;
    for (auto& part : parts) threads.emplace_back([&part] { part->run(); });
    if (seed % 4 == 1) looper.queue.quit(seed % 8 == 1 ? QuitMode::kSafe : QuitMode::kDrop);
    for (std::thread& thread : threads) thread.join();
    parts.front()->lone_message();
  }
  std::size_t accepted = 0;
  std::size_t ended = 0;
  for (const auto& part : parts) {
    accepted += part->accepted();
    ended += part->ended();
  }
  stress_require(accepted == ended, "an accepted message neither ran nor was released");
  return kThreads * operations_per_thread;
}

}  // namespace unjank::testing
