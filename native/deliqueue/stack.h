// The stack of all pending messages, newest on top: Treiber's, plus unlinking from the middle by the one looper.
//
//   top -> n5 -> n4 | -> n3 -> n2 -> n1        swept_top = n3: below it nodes have back-links and are in the heap
//
// push()      any thread, lock-free: one CAS in the usual case. Reads no other node, so it needs no protection
//             against reuse; ABA does no harm, since the new node's `next` is the very node the CAS compares.
// sweep()     looper: walks from the top down to swept_top, adds back-links, then hands the new nodes out oldest
//             first. Order on the stack is push order, so sequence numbers given here need no shared counter.
// unlink()    looper, O(1): only the looper changes `next` of a published node and only it takes nodes off.
// first()     visitors, inside a traversal gate: from one read of the top, down by `next`.
//
// Guarantee: what a thread wrote before push() is visible to the looper that sweeps the node and to a visitor that
// reaches it, whichever push it acquired: every change of `top` is a read-modify-write, so all pushes below are in
// one release sequence. For the same reason `next` is relaxed: a node that `next` names was pushed earlier.
//
// After the sentinel is pushed nothing is pushed any more: a producer finds it on top.
//
// Where nothing that is pending has a due time, what is due now needs none either: push order is its order. So `top`
// also says whether a timed node lies anywhere on the stack. While none does, push() takes untimed nodes; they sort
// before all due times, and every timed node on the stack is newer than every untimed one. The looper counts the timed
// nodes that it has swept, and takes the mark away when it unlinks the top and none is left.
//
// `top` - Encodes: newest node, the sentinel, or null; in bit 0 the mark. Written by: producers (push), looper (unlink
// of the top).
// Publish: seq_cst CAS; the looper acquires. seq_cst because a producer then reads the wake word, and the looper
// writes the wake word and then reads `top`: one of them sees the other. Breaks if weakened to release: lost
// wake-up (sleep_model_test "post races sleep"); to relaxed: the looper reads an unwritten message (queue_model_test
// "push races sweep").
// `next` - Encodes: the node pushed before this one. Written by: the pusher, then the looper. Relaxed, see above.
#pragma once

#include "deliqueue/node.h"

namespace unjank::deliqueue {

enum class Pushed : std::uint8_t {
  kDone,
  kRefused,    // the sentinel is on top
  kNeedsTime,  // the node is untimed and a timed one is on the stack
};

template <class Policy, class O = Orders>
class Stack {
 public:
  using NodeType = Node<Policy, O>;

  // `when`: the node's due time, kUntimed, or kFrontKey. Unless it is done, the node was not published and still is the
  // caller's.
  Pushed push(NodeType* node, std::int64_t when) {
    const bool untimed = when == kUntimed;
    const std::uintptr_t mark = when > kUntimed ? kTimed : 0;
    std::uintptr_t top = top_.load(std::memory_order_relaxed);
    if (node_of(top) == &sentinel_) return Pushed::kRefused;
    do {
      if (untimed && (top & kTimed)) return Pushed::kNeedsTime;
      if (publish(top, node, O::kKeepMark ? mark | (top & kTimed) : mark)) return Pushed::kDone;
    } while (!O::kRecheckRefused || node_of(top) != &sentinel_);
    return Pushed::kRefused;
  }

  // Any thread, once per stack: the sentinel has one `next`.
  void push_sentinel() {
    std::uintptr_t top = top_.load(std::memory_order_relaxed);
    while (!publish(top, &sentinel_, top & kTimed)) continue;
  }

  // The line of `top` comes from the core that pushed last: asked for early, and to write, it is here for push().
  void prefetch_top() const { prefetch_for_write(&top_); }

  bool refuses() const { return node_of(top_.load(std::memory_order_relaxed)) == &sentinel_; }
  bool is_sentinel(const NodeType* node) const { return node == &sentinel_; }
  NodeType* first() const { return node_of(top_.load(O::kTraverse)); }
  static NodeType* below(const NodeType* node) { return node->next.load(std::memory_order_relaxed); }

  // Looper. Calls each(node) for every node pushed since the last sweep, oldest first, sentinel included.
  // Returns how many.
  template <class Each>
  std::size_t sweep(Each&& each) {
    NodeType* const top = node_of(top_.load(O::kSweep));
    NodeType* const end = swept_top_;
    if (top == end) return 0;
    NodeType* oldest = link_back(top, end);
    swept_top_ = top;
    std::size_t count = 0;
    for (NodeType* node = oldest; node != nullptr; ++count) {
      NodeType* const newer = node->back.get();
      timed_ += node != &sentinel_ && node->timed();
      each(node);
      node = newer;
    }
    return count;
  }

  // Looper, after the wake word was written: did somebody push what no sweep has seen?
  bool has_unswept() const { return node_of(top_.load(O::kRecheckTop)) != swept_top_; }

  // Looper; `node` was swept. False: it is on top of the swept part and newer nodes lie above: sweep, then retry.
  bool unlink(NodeType* node) {
    NodeType* const next = below(node);
    const std::size_t timed_left = timed_ - node->timed();
    if (NodeType* const newer = node->back.get()) {
      newer->next.store(next, std::memory_order_relaxed);
    } else if (!take_top(node, next, timed_left)) {
      return false;
    } else {
      swept_top_ = next;
    }
    if (next != nullptr) next->back.set(node->back.get());
    timed_ = timed_left;
    return true;
  }

 private:
  static constexpr std::uintptr_t kTimed = 1;

  static NodeType* node_of(std::uintptr_t top) { return reinterpret_cast<NodeType*>(top & ~kTimed); }

  bool publish(std::uintptr_t& top, NodeType* node, std::uintptr_t mark) {
    node->next.store(node_of(top), std::memory_order_relaxed);
    return top_.compare_exchange_strong(top, reinterpret_cast<std::uintptr_t>(node) | mark, O::kPush,
                                        std::memory_order_relaxed);
  }
  // Relaxed: publishes nothing new, and as a read-modify-write it continues the pushes' release sequence. All below the
  // top are swept, so `timed_left` counts every timed node that stays. If newer ones were pushed, it fails.
  bool take_top(NodeType* node, NodeType* next, std::size_t timed_left) {
    std::uintptr_t top = top_.load(std::memory_order_relaxed);
    if (node_of(top) != node) return false;
    const std::uintptr_t mark = timed_left != 0 && O::kKeepMarkOnUnlink ? top & kTimed : 0;
    return top_.compare_exchange_strong(top, reinterpret_cast<std::uintptr_t>(next) | mark, std::memory_order_relaxed,
                                        std::memory_order_relaxed);
  }

  static NodeType* link_back(NodeType* top, NodeType* end) {
    NodeType* node = top;
    for (NodeType* next = below(node); next != end; next = below(node)) {
      next->back.set(node);
      node = next;
    }
    if (end != nullptr) end->back.set(node);
    return node;
  }

  alignas(kCacheLine) typename Policy::template Atomic<std::uintptr_t> top_{0};
  alignas(kCacheLine) NodeType* swept_top_ = nullptr;  // looper
  std::size_t timed_ = 0;                              // looper: of the swept nodes
  NodeType sentinel_;
};

}  // namespace unjank::deliqueue
