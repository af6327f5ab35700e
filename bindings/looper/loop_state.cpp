#include "loop_state.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "deliqueue/queue.h"
#include "legacy/queue.h"

namespace unjank::looper {

namespace {

template <class Q>
class LoopQueueOf final : public LoopQueue {
 public:
  LoopQueueOf(poll::Waker& waker, const Clock& clock) : queue_(waker, clock) {}

  PostResult post(const Message& message) override { return queue_.post(message); }
  PostResult post_now(const Message& message) override { return queue_.post_now(message); }
  PostResult post_barrier(std::int64_t when_ns) override { return queue_.post_barrier(when_ns); }
  RemoveResult remove_barrier(Handle handle) override { return queue_.remove_barrier(handle); }
  RemoveResult remove(const Criteria& criteria) override { return queue_.remove(criteria); }
  RemoveResult cancel(Handle handle) override { return queue_.cancel(handle); }
  bool has(const Criteria& criteria) override { return queue_.has(criteria); }
  bool has_due() override { return queue_.has_due(); }
  void look(const std::function<void(const Sighting&)>& see) override { queue_.look(see); }
  void look_at_payloads(const std::function<void(const Message&)>& see) override { queue_.look_at_payloads(see); }
  int quit(QuitMode mode) override { return queue_.quit(mode); }
  bool quitting() const override { return queue_.quitting(); }
  int wake() override { return queue_.wake(); }

  Next next() override { return queue_.next(); }
  bool prepare_sleep() override { return queue_.prepare_sleep(); }
  void finish_sleep() override { queue_.finish_sleep(); }
  std::int64_t next_due() override { return queue_.next_due(); }
  std::size_t backlog() const override { return queue_.backlog(); }
  void close() override { queue_.close(); }

 private:
  Q queue_;
};

std::atomic<std::uint64_t> loopers{0};

void count_fork() { fork_count.fetch_add(1, std::memory_order_relaxed); }

}  // namespace

void count_forks() { pthread_atfork(nullptr, nullptr, count_fork); }

std::unique_ptr<LoopQueue> make_queue(QueueKind kind, poll::Waker& waker, const Clock& clock) {
  if (kind == QueueKind::kLocked) return std::make_unique<LoopQueueOf<legacy::Queue>>(waker, clock);
  return std::make_unique<LoopQueueOf<deliqueue::MessageQueue>>(waker, clock);
}

LoopState::LoopState(QueueKind kind, bool virtual_clock)
    : kind(kind), number(loopers.fetch_add(1, std::memory_order_relaxed) + 1), generation_(fork_count.load()),
      tid_(static_cast<std::int32_t>(gettid())) {
  if (virtual_clock) {
    auto manual = std::make_unique<ManualClock>();
    manual_ = manual.get();
    clock = std::move(manual);
  } else {
    clock = std::make_unique<MonotonicClock>();
  }
  if (virtual_clock) time_posts_for(kVirtualClock, true);
  queue = make_queue(kind, poller, *clock);
}

PostResult LoopState::post_announced(const MessageHooks& hooks, const Message& message, const void* callback,
                                     bool attached) {
  const std::uint64_t began = hooks.now();
  const std::int64_t pending = pending_.fetch_add(1, std::memory_order_relaxed) + 1;
  const PostResult result = queue->post(message);
  if (!result) {
    pending_.fetch_sub(1, std::memory_order_relaxed);
    return result;
  }
  const bool native = message.target == this;
  hooks.posted({.queue = queue_view(pending), .flow = flow_of(result.handle), .due_ns = message.when_ns,
                .real_time = manual_ == nullptr,
                .what = callback == nullptr ? message.what : 0, .handler = native ? nullptr : message.target,
                .callback = callback, .attached = attached},
               began);
  return result;
}

QueueView LoopState::queue_view(std::int64_t pending) const {
  return {.looper = number, .tid = tid_, .pending = static_cast<std::uint32_t>(std::max<std::int64_t>(pending, 0))};
}

QueueView LoopState::count_backlog() {
  const auto pending = static_cast<std::int64_t>(queue->backlog());
  pending_.store(pending, std::memory_order_relaxed);
  return queue_view(pending);
}

void LoopState::announce_removed(const MessageHooks& hooks, std::size_t count) {
  const auto removed = static_cast<std::int64_t>(count);
  hooks.removed(queue_view(pending_.fetch_sub(removed, std::memory_order_relaxed) - removed));
}

void LoopState::close() {
  const std::lock_guard lock(listeners_);
  if (closed_.exchange(true, std::memory_order_relaxed)) return;
  queue->close();
  poller.close();
  if (const auto left = pending_.load(std::memory_order_relaxed); left > 0) announced({static_cast<std::size_t>(left)});
}

int LoopState::listen(int fd, std::uint32_t readiness, std::uint64_t id) {
  const std::lock_guard lock(listeners_);
  return closed() ? ESHUTDOWN : poller.add(fd, readiness, id);
}

int LoopState::change(int fd, std::uint32_t readiness, std::uint64_t id) {
  const std::lock_guard lock(listeners_);
  return closed() ? ESHUTDOWN : poller.modify(fd, readiness, id);
}

int LoopState::forget(int fd) {
  const std::lock_guard lock(listeners_);
  return closed() ? ESHUTDOWN : poller.remove(fd);
}

}  // namespace unjank::looper
