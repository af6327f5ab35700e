// Tombstones on their way to the looper: a second Treiber stack, emptied as a whole.
//
// bury()   any thread that claimed nodes for removal; one CAS for a chain of any length. Lock-free.
// exhume() looper: takes all, O(1).
// Only the looper frees nodes, and only nodes that passed through here or that it claimed itself.
//
// The looper is not woken for a tombstone. But week-long timers that are set and cancelled must not pile up while
// it sleeps, so each node notes how many lie below it; bury() tells when that count passes a multiple of
// kReclaimBatch, and the remover then wakes the looper once. Any removed barrier wakes it as well.
//
// `top` - Encodes: newest tombstone or null. Written by: removers (CAS), looper (exchange to null). Publish:
// seq_cst, the looper acquires: the remover has read the payload before the looper reuses the node. seq_cst
// because the wake word is read next, as with a push. Breaks if weakened: the pool hands out a node whose payload
// is still being read (remove_model_test "remove races unlink"); a removed barrier leaves the looper asleep
// (sleep_model_test "barrier removal races sleep").
// `depth` - Encodes: tombstones at and below this node, a hint. Relaxed: a stale count moves one wake-up to the next
// multiple.
#pragma once

#include "deliqueue/node.h"

namespace unjank::deliqueue {

inline constexpr std::uint32_t kReclaimBatch = 1024;

// Nodes claimed by one thread, linked by free_next, last one first in.
template <class NodeType>
struct Chain {
  NodeType* first = nullptr;
  NodeType* last = nullptr;
  std::uint32_t count = 0;

  void add(NodeType* node) {
    node->free_next.set(first);
    if (first == nullptr) last = node;
    first = node;
    ++count;
  }
};

template <class Policy, class O = Orders>
class FreeList {
 public:
  using NodeType = Node<Policy, O>;

  // True: a batch is full, wake the looper to reclaim it. The chain must not be empty.
  bool bury(const Chain<NodeType>& chain) {
    NodeType* top = top_.load(std::memory_order_acquire);
    std::uint32_t below;
    do {
      below = top == nullptr ? 0 : top->depth.load(std::memory_order_relaxed);
      chain.first->depth.store(below + chain.count, std::memory_order_relaxed);
      chain.last->free_next.set(top);
    } while (!top_.compare_exchange_strong(top, chain.first, O::kBury, std::memory_order_acquire));
    return below / kReclaimBatch != (below + chain.count) / kReclaimBatch;
  }

  // Looper. The newest tombstone, linked by free_next.
  NodeType* exhume() {
    if (top_.load(std::memory_order_relaxed) == nullptr) return nullptr;
    return top_.exchange(nullptr, O::kExhume);
  }

  // Looper, after the wake word was written.
  bool empty() const { return top_.load(O::kRecheckGraves) == nullptr; }

 private:
  alignas(kCacheLine) typename Policy::template Atomic<NodeType*> top_{nullptr};
};

}  // namespace unjank::deliqueue
