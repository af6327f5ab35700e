// Android's message queue before Android 17: one mutex around one singly linked list, sorted by due time.
//
// The baseline of the benchmarks, the oracle of the tests, and a choice at run time (`queue="locked"`). Same
// operations, same answers as deliqueue::Queue; it is kept as slow as the original: insertion walks the list, O(n),
// under the lock, and the wake handle is written under the lock.
// Two things follow deliqueue where the original is silent or cannot say: cancel() by handle, and quit(kSafe) lifts
// standing barriers so that what is due does run.
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "deliqueue/message.h"
#include "poll/waker.h"

namespace unjank::legacy {

using deliqueue::Criteria;
using deliqueue::Handle;
using deliqueue::Message;
using deliqueue::Next;
using deliqueue::PostResult;
using deliqueue::PostStatus;
using deliqueue::QuitMode;
using deliqueue::RemoveResult;
using deliqueue::Sighting;

class Queue {
 public:
  Queue(poll::Waker& waker, const Clock& clock) : waker_(waker), clock_(clock) {}
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;
  ~Queue();

  // ---- any thread
  std::int64_t now_ns() const { return clock_.now_ns(); }
  PostResult post(const Message& message);
  // A whole backlog into an empty queue, for benchmarks: one by one it would cost O(n^2). The nodes are allocated in
  // the order given, as they would be by posts. False: the queue is not empty, or has quit.
  bool preload(std::span<const Message> messages);
  PostResult post_now(const Message& message);
  PostResult post_barrier(std::int64_t when_ns);
  RemoveResult remove_barrier(Handle handle);
  RemoveResult remove(const Criteria& criteria);
  RemoveResult cancel(Handle handle);
  bool has(const Criteria& criteria);
  bool has_due();
  int quit(QuitMode mode);
  bool quitting() const;
  int wake();

  template <class See>
  void look(See&& see) {
    const std::lock_guard lock(mutex_);
    for (const Node* node = head_; node != nullptr; node = node->next) {
      const Message& m = node->message;
      see(Sighting{m.when_ns, m.target, m.what, m.obj, m.callback, m.flags, node->barrier});
    }
  }

  // Each pending message with its payload; see deliqueue::Queue.
  template <class See>
  void look_at_payloads(See&& see) {
    const std::lock_guard lock(mutex_);
    for (const Node* node = head_; node != nullptr; node = node->next) {
      if (!node->barrier) see(node->message);
    }
  }

  // ---- looper
  Next next();
  bool prepare_sleep();
  void finish_sleep();
  std::int64_t next_due();
  std::size_t backlog() const;
  void close();

 private:
  struct Node {
    Message message;
    std::uint64_t id;
    bool barrier;
    Node* next = nullptr;

    std::int64_t key() const { return message.at_front() ? INT64_MIN : message.when_ns; }
  };

  PostResult post_node(Message message, bool barrier);
  void insert(Node* node);
  bool calls_for_wake(const Node& node) const;
  Node** runnable();
  int wake_locked(bool needed);
  Next take(Node** link);

  // Unlinks every node that fits, in list order.
  template <class Fits>
  std::vector<Node*> unlink_if(Fits&& fits) {
    std::vector<Node*> out;
    for (Node** link = &head_; *link != nullptr;) {
      if (fits(**link)) {
        out.push_back(std::exchange(*link, (*link)->next));
      } else {
        link = &(*link)->next;
      }
    }
    return out;
  }
  static std::size_t release(const std::vector<Node*>& nodes);

  poll::Waker& waker_;
  const Clock& clock_;
  mutable std::mutex mutex_;  // guards everything below
  Node* head_ = nullptr;      // sorted by key, equal keys in order of posting
  std::uint64_t next_id_ = 1;
  std::int64_t deadline_ = kForever;  // what the looper sleeps for
  bool blocked_ = false;              // the looper sleeps or is about to
  bool quitting_ = false;
  bool closed_ = false;
};

}  // namespace unjank::legacy
