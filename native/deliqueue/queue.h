// A message queue for one looper and any number of posters, without a lock (after Android 17's DeliQueue).
//
// Posters push on a stack; the looper sweeps it into heaps that it alone owns; remove() marks nodes and leaves them
// on a free-list, and the looper takes them out of stack and heaps later. One structure per header:
//   stack.h  heap.h lanes.h  free_list.h  traversal_gate.h limbo.h  quit_gate.h  wake_word.h  node_pool.h
//
// Guarantees
//   - What happened before post() happens before the message is handed out, and before its release.
//   - Each accepted message is handed out once or released once, never both.
//   - Order: due time, then push order; posts at the front first, newest first. What post_now() takes is due when it
//     is called. One liberty: a post whose due time has passed does not overtake what post_now() took before.
//   - A post that was accepted is seen by the looper before it sleeps, or wakes it.
//   - A message that was due when it was posted runs under quit(kSafe) if its post was accepted: the looper reads
//     the clock after it found the sentinel, and whatever lies below the sentinel was posted before that.
//   - After quit() returned, every post() is refused.
// Progress: post, remove, cancel and has are lock-free; next() never waits. close() waits for wake-ups that are being
// written at that moment, and a second quit() for the first one's push.
// Cost: post one CAS, and a read of the wake word; next O(log n) amortised; cancel O(1); remove, has O(n).
// When not to use it: with several consumers; where only first-in-first-out matters; for a million remove() calls by
// criteria against a long backlog (keep the Handle and cancel()).
//
// Threads. "Looper" means one thread at a time. The destructor needs all other threads gone, and drops what is left.
// After a fork the child must leave the parent's queues alone: the looper may have been in the middle of a step.
#pragma once

#include <algorithm>

#include "base/clock.h"
#include "deliqueue/free_list.h"
#include "deliqueue/lanes.h"
#include "deliqueue/limbo.h"
#include "deliqueue/node_pool.h"
#include "deliqueue/quit_gate.h"
#include "deliqueue/stack.h"
#include "deliqueue/traversal_gate.h"
#include "deliqueue/wake_word.h"
#include "poll/waker.h"

namespace unjank::deliqueue {

template <class Policy, class Pool, class O = Orders>
class Queue {
 public:
  using NodeType = Node<Policy, O>;

  // Both must live until close() has returned or the queue is destroyed.
  Queue(poll::Waker& waker, const Clock& clock) : waker_(waker), clock_(clock), limbo_(traversals_) {}
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;
  ~Queue() { drop_everything(); }

  // ---- any thread -----------------------------------------------------------------------------------------------

  std::int64_t now_ns() const { return clock_.now_ns(); }

  PostResult post(const Message& message) { return post_node(message, Kind::kMessage, clamped(message.when_ns)); }

  // Due now; `when_ns` is not read. Reads the clock only if something with a due time is pending; if it did not, the
  // message is handed out with the time of that as its due time.
  PostResult post_now(const Message& message) { return post_node(message, Kind::kMessage, kUntimed); }

  // From its due time on, only asynchronous messages run, until it is removed.
  PostResult post_barrier(std::int64_t when_ns) { return post_node({}, Kind::kBarrier, clamped(when_ns)); }

  // count 0: removed before, or not a barrier of this queue.
  RemoveResult remove_barrier(Handle handle) {
    NodeType* const node = static_cast<NodeType*>(handle.node);
    if (!claim_handle(handle, Kind::kBarrier)) return {};
    return {1, bury(chain_of(node), true)};
  }

  // Removes every pending message that matches, and releases it.
  RemoveResult remove(const Criteria& criteria) {
    Chain<NodeType> removed = claim_matching(criteria);
    if (removed.count == 0) return {};
    const NodeType* node = removed.first;
    for (std::uint32_t i = 0; i < removed.count; ++i, node = node->free_next.get()) node->message().drop();
    return {removed.count, bury(removed, false)};
  }

  // Removes one message. count 0: it was handed out or removed before.
  RemoveResult cancel(Handle handle) {
    NodeType* const node = static_cast<NodeType*>(handle.node);
    if (!claim_handle(handle, Kind::kMessage)) return {};
    node->message().drop();
    return {1, bury(chain_of(node), false)};
  }

  bool has(const Criteria& criteria) {
    return visit([&](const NodeType& node, State) { return criteria.matches(node); });
  }

  // Is any message due, held up by a barrier or not?
  bool has_due() {
    const std::int64_t now = now_ns();
    return visit([&](const NodeType& node, State state) {
      return (state.flags() & kAtFront) || node.when.get() <= now;
    });
  }

  // Calls see(Sighting) for each pending message and barrier, newest post first. What has no due time is due now, but no
  // later than what was posted after it: it runs before that.
  template <class See>
  void look(See&& see) {
    std::int64_t untimed = now_ns();
    const typename TraversalGate<Policy, O>::Visit inside(traversals_);
    for (const NodeType* node = stack_.first(); node != nullptr; node = stack_.below(node)) {
      const State state = node->load_state();
      if (state.status() != Status::kPending) continue;
      if (node->timed()) untimed = std::min(untimed, node->when.get());
      const std::int64_t when = node->when.get();
      see(Sighting{when == kUntimed ? untimed : when, node->match_target(), node->match_what(), node->match_obj(),
                   node->match_callback(), state.flags(), state.kind() == Kind::kBarrier});
    }
  }

  // Calls see(Message) for each pending message, newest post first, payload included. Only while no payload can be
  // claimed or released by another thread: for a garbage collector that has stopped the threads that do.
  template <class See>
  void look_at_payloads(See&& see) {
    const typename TraversalGate<Policy, O>::Visit inside(traversals_);
    for (const NodeType* node = stack_.first(); node != nullptr; node = stack_.below(node)) {
      const State state = node->load_state();
      if (state.status() == Status::kPending && state.kind() == Kind::kMessage) see(node->message());
    }
  }

  // The first call decides the mode and pushes the sentinel; others wait for that, so that their posts are refused
  // too once they return. Returns the errno of the wake-up, 0 if there was none to report.
  int quit(QuitMode mode) {
    std::uint8_t undecided = kNotQuitting;
    if (!quit_mode_.compare_exchange_strong(undecided, static_cast<std::uint8_t>(mode), std::memory_order_relaxed,
                                            std::memory_order_relaxed) && O::kOneSentinel) {
      while (!stack_.refuses()) Policy::pause();
      return 0;
    }
    stack_.push_sentinel();
    return wake(wake_word_.sleeper());
  }
  bool quitting() const { return stack_.refuses(); }

  // Makes next() return early though nothing was posted.
  int wake() { return wake(wake_word_.sleeper()); }

  // ---- looper ---------------------------------------------------------------------------------------------------

  // Claims the next due message, or says until when there is none. Never blocks.
  Next next() {
    reclaim_tombstones();
    sweep();
    if (quit_seen_ && !quit_applied_) apply_quit();
    const std::int64_t now = clock_.now_ns();
    for (;;) {
      const auto* const head = lanes_.head();
      if (head == nullptr || head->when > now) return nothing_due(head);
      NodeType* const node = lanes_.node_of(*head);
      lanes_.erase(node);
      if (node->claim(node->load_state(), Status::kTaken)) return hand_out(node, now);
      // A tombstone: whoever removed it has put it, or is about to put it, on the free-list.
    }
  }

  // After next() said kWait. False: something came in, call next() again. True: sleep until the deadline or until
  // the waker fires, whichever is first, then call finish_sleep().
  bool prepare_sleep() {
    if (!plan_is_current_) return false;
    limbo_.collect();
    limbo_.collect();
    wake_word_.fall_asleep(sleep_plan_);
    if (!O::kRecheckBeforeSleep || (!stack_.has_unswept() && graves_.empty())) return true;
    wake_word_.awake();
    return false;
  }
  void finish_sleep() { wake_word_.awake(); }

  // The due time next() would wait for or hand out, now for what has none or is at the front; kForever if nothing is
  // pending.
  std::int64_t next_due() {
    reclaim_tombstones();
    sweep();
    const auto* const head = lanes_.head();
    if (head == nullptr) return kForever;
    return head->when <= kUntimed ? now_ns() : head->when;
  }

  // Messages the looper knows of, as of its last next(). Tombstones that are not reclaimed yet count.
  std::size_t backlog() const { return lanes_.size(); }

  // The end of the loop: afterwards no thread touches the waker, and it may be destroyed.
  void close() { quit_gate_.close(); }

 private:
  static constexpr std::uint8_t kNotQuitting = 255;

  PostResult post_node(const Message& message, Kind kind, std::int64_t when) {
    stack_.prefetch_top();
    NodeType* const node = Pool::take();
    if (node == nullptr) return {PostStatus::kNoMemory};
    const Handle handle{node, node->fill(message, kind, when)};
    std::int64_t key = message.at_front() ? kFrontKey : when;
    Pushed pushed = stack_.push(node, key);
    if (pushed == Pushed::kNeedsTime) {
      node->when.set(key = clamped(now_ns()));
      pushed = stack_.push(node, key);
    }
    if (pushed == Pushed::kRefused) {
      node->free_next.set(nullptr);
      Pool::give_back(node);
      return {PostStatus::kQuit};
    }
    // The node may have run and been reused by now: only copies from here on.
    if (kind == Kind::kBarrier) return {PostStatus::kAccepted, 0, handle};
    return {PostStatus::kAccepted, wake(wake_word_.sleeper(key, message.asynchronous())), handle};
  }

  // `sleeper` is the wake word of a looper to be woken, or kAwake.
  int wake(std::int64_t sleeper) {
    if (sleeper == kAwake || !wake_word_.win() || !quit_gate_.enter()) return 0;
    const int error = waker_.wake();
    quit_gate_.leave();
    if (error != 0) wake_word_.give_up(sleeper);
    return error;
  }

  bool claim_handle(Handle handle, Kind kind) {
    if (!handle) return false;
    NodeType* const node = static_cast<NodeType*>(handle.node);
    const State state = node->load_state();
    return state.generation() == handle.generation && state.kind() == kind && node->claim(state, Status::kRemoved);
  }

  Chain<NodeType> claim_matching(const Criteria& criteria) {
    Chain<NodeType> removed;
    const typename TraversalGate<Policy, O>::Visit inside(traversals_);
    for (NodeType* node = stack_.first(); node != nullptr; node = stack_.below(node)) {
      const State state = node->load_state();
      if (state.kind() == Kind::kMessage && state.status() == Status::kPending &&
          criteria.matches(*node) && node->claim(state, Status::kRemoved)) {
        removed.add(node);
      }
    }
    return removed;
  }

  // Does any pending message satisfy the question?
  template <class Question>
  bool visit(Question&& question) {
    const typename TraversalGate<Policy, O>::Visit inside(traversals_);
    for (const NodeType* node = stack_.first(); node != nullptr; node = stack_.below(node)) {
      const State state = node->load_state();
      if (state.status() == Status::kPending && state.kind() == Kind::kMessage && question(*node, state)) {
        return true;
      }
    }
    return false;
  }

  static Chain<NodeType> chain_of(NodeType* node) {
    Chain<NodeType> chain;
    chain.add(node);
    return chain;
  }
  int bury(const Chain<NodeType>& chain, bool wake_always) {
    const bool batch_full = graves_.bury(chain);
    return batch_full || wake_always ? wake(wake_word_.sleeper()) : 0;
  }

  void sweep() {
    lanes_.begin_admitting();
    const std::size_t swept = stack_.sweep([this](NodeType* node) {
      if (stack_.is_sentinel(node)) {
        quit_seen_ = true;
      } else if (node->pending()) {
        lanes_.admit(node);
      }
    });
    if (swept == 0) return;
    lanes_.settle();
    plan_is_current_ = false;
  }

  // Structural removal of what others removed. The free-list is taken first: all its nodes are then on the stack
  // that the sweep reads, so each gets its back-link.
  void reclaim_tombstones() {
    NodeType* node = graves_.exhume();
    if (node == nullptr) return;
    if constexpr (O::kSweepBeforeUnlink) sweep();
    while (node != nullptr) {
      NodeType* const older = node->free_next.get();
      lanes_.erase(node);
      unlink_and_retire(node);
      node = older;
    }
  }

  void unlink_and_retire(NodeType* node) {
    while (!stack_.unlink(node)) sweep();
    limbo_.retire(node);
  }

  Next hand_out(NodeType* node, std::int64_t now) {
    Next next{.kind = Next::Kind::kMessage, .message = node->message(),
              .handle = {node, node->load_state().generation()}};
    if (next.message.when_ns == kUntimed) next.message.when_ns = now;
    unlink_and_retire(node);
    lanes_.prefetch_next();
    return next;
  }

  Next nothing_due(const HeapEntry* head) {
    if (quit_applied_) return {.kind = Next::Kind::kQuit};
    sleep_plan_ = lanes_.sleep_plan(head);
    plan_is_current_ = true;
    return {.kind = Next::Kind::kWait, .deadline_ns = head == nullptr ? kForever : head->when};
  }

  // Once, when the sentinel is found. The clock is read now, after it.
  void apply_quit() {
    quit_applied_ = true;
    const bool safe = quit_mode_.load(std::memory_order_relaxed) == static_cast<std::uint8_t>(QuitMode::kSafe);
    lanes_.extract_after(safe ? clock_.now_ns() : INT64_MIN, [this](NodeType* node) {
      if (!node->claim(node->load_state(), Status::kTaken)) return;
      const Message message = node->message();
      unlink_and_retire(node);
      message.drop();
    });
  }

  // Every live node is on the stack or in limbo; tombstones on the free-list are on the stack as well.
  void drop_everything() {
    NodeType* node = stack_.first();
    while (node != nullptr) {
      NodeType* const older = stack_.below(node);
      if (!stack_.is_sentinel(node)) drop_node(node);
      node = older;
    }
  }
  void drop_node(NodeType* node) {
    if (node->claim(node->load_state(), Status::kTaken)) node->message().drop();
    node->free_next.set(nullptr);
    Pool::give_back(node);
  }

  Stack<Policy, O> stack_;
  FreeList<Policy, O> graves_;
  WakeWord<Policy, O> wake_word_;
  TraversalGate<Policy, O> traversals_;
  QuitGate<Policy, O> quit_gate_;
  typename Policy::template Atomic<std::uint8_t> quit_mode_{kNotQuitting};

  poll::Waker& waker_;
  const Clock& clock_;
  Lanes<NodeType> lanes_;  // from here on: looper only
  Limbo<Policy, Pool, O> limbo_;
  SleepPlan sleep_plan_{kForever, false};
  bool plan_is_current_ = false;  // nothing was swept since next() made the plan
  bool quit_seen_ = false;
  bool quit_applied_ = false;
};

using MessageQueue = Queue<StdPolicy, NodePool>;

}  // namespace unjank::deliqueue
