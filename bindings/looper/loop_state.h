// The native half of a looper: queue, poller, clock. Outlives the Python object while C code holds it (c_api.h).
//
//   member       written by                    read by
//   queue        any thread (it synchronizes)  any thread
//   poller       looper; listeners under `listeners`  looper; wake() from any thread
//   dispatches   looper                        watchdog (relaxed; odd while a dispatch runs)
//   thread       creation, adopt()             any thread
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "base/cache_line.h"
#include "base/message_hooks.h"
#include "loop_queue.h"
#include "poll/poller.h"

namespace unjank::looper {

// Counts the forks between the first process and this one. Written in a child before it has a second thread.
inline std::atomic<std::uint64_t> fork_count{0};
// Has forks counted from here on.
void count_forks();

// One number for what a post answered with and the dispatch hands out.
inline std::uint64_t flow_of(Handle handle) {
  // Nodes are 128 bytes apart, and a node has one message per generation.
  return (reinterpret_cast<std::uintptr_t>(handle.node) >> 6) + handle.generation * 0x9E3779B97F4A7C15;
}

class LoopState {
 public:
  LoopState(QueueKind kind, bool virtual_clock);
  LoopState(const LoopState&) = delete;
  LoopState& operator=(const LoopState&) = delete;
  ~LoopState() { close(); }

  // Returns an errno.
  int open() { return poller.open(); }
  // The looper's thread, once nobody posts any more or the queue has quit. Idempotent.
  void close();
  bool closed() const { return closed_.load(std::memory_order_relaxed); }

  // Made before a fork, seen by the child: its threads are gone and its descriptors are the parent's.
  bool inherited() const { return generation_ != fork_count.load(std::memory_order_relaxed); }

  // Refused, like after quit, in a forked child. `callback`: what a recorder is shown as such.
  PostResult post(const Message& message, const void* callback, bool attached) {
    if (inherited()) return {PostStatus::kQuit};
    const MessageHooks* const hooks = message_hooks();
    if (hooks == nullptr) [[likely]] return queue->post(message);
    return post_announced(*hooks, message, callback, attached);
  }
  // Due now. Sets `when_ns` only if there is a reason to; see deliqueue::Queue::post_now().
  PostResult post_now(Message& message, const void* callback, bool attached) {
    if (inherited()) return {PostStatus::kQuit};
    if (message_hooks() == nullptr && timed_for_.load(std::memory_order_relaxed) == 0) [[likely]] {
      return queue->post_now(message);
    }
    message.when_ns = now_ns();
    return post(message, callback, attached);
  }
  // Before a post at a time that was given. If it has passed already, the post overtakes what was posted since then; so
  // from the first such one on every post is timed.
  void expect_at(std::int64_t when) {
    const bool known = timed_for_.load(std::memory_order_relaxed) & kBackdating;
    if (!known && when < now_ns()) time_posts_for(kBackdating, true);
  }

  // Why posts that are due now must know when that was, though nothing else is pending.
  enum Reason : std::uint8_t {
    kVirtualClock = 1,  // whoever turns it wants to see due times
    kObserver = 2,      // wants to be told what is late
    kBackdating = 4,    // the program posts at times that have passed
  };
  void time_posts_for(Reason reason, bool on) {
    if (on) {
      timed_for_.fetch_or(reason, std::memory_order_relaxed);
    } else {
      timed_for_.fetch_and(static_cast<std::uint8_t>(~reason), std::memory_order_relaxed);
    }
  }

  // Of messages, for a recorder to be told.
  RemoveResult announced(const RemoveResult& removed) {
    const MessageHooks* const hooks = message_hooks();
    if (hooks != nullptr && removed.count != 0) [[unlikely]] announce_removed(*hooks, removed.count);
    return removed;
  }
  // The looper's thread: what a recorder is shown of the queue at a dispatch.
  QueueView count_backlog();

  std::int64_t now_ns() const { return clock->now_ns(); }
  ManualClock* virtual_clock() { return manual_; }

  // Listeners' descriptors, from any thread. Return an errno; EBADF-like failures are the kernel's.
  int listen(int fd, std::uint32_t readiness, std::uint64_t id);
  int change(int fd, std::uint32_t readiness, std::uint64_t id);
  int forget(int fd);

  poll::Poller poller;
  std::unique_ptr<Clock> clock;
  std::unique_ptr<LoopQueue> queue;
  const QueueKind kind;
  const std::uint64_t number;  // counts the process's loopers from 1

 private:
  PostResult post_announced(const MessageHooks& hooks, const Message& message, const void* callback, bool attached);
  void announce_removed(const MessageHooks& hooks, std::size_t count);
  QueueView queue_view(std::int64_t pending) const;

  std::mutex listeners_;  // close() against listen(), change(), forget()
  std::atomic<bool> closed_{false};
  // Encodes: Reasons. Written by: any thread, seldom. Relaxed: a post that misses it is one that was made before.
  std::atomic<std::uint8_t> timed_for_{0};
  ManualClock* manual_ = nullptr;
  const std::uint64_t generation_;
  const std::int32_t tid_;

 public:
  // On a line of its own with `pending_`: posters read what is above.
  alignas(kCacheLine) std::atomic<std::uint64_t> dispatches{0};

 private:
  // `pending_` — Encodes: messages in the queue, for a recorder; kept only while there is one. Written by: posters
  // (before the push: the dispatch's store cannot come in between), removers, the looper. A number to show: relaxed.
  // The looper's count at each dispatch puts right what was missed.
  std::atomic<std::int64_t> pending_{0};
};

}  // namespace unjank::looper
