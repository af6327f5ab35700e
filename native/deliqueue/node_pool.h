// Where nodes come from: each thread has its own stock, and a node always returns to the thread that drew it.
//
//   take()       the thread's own stock, no atomic operation; when that is empty, everything that came back (one
//                exchange); when nothing did, a new slab.
//   give_back()  any thread, mostly a looper: one CAS per run of nodes that belong to the same stock.
//
// So producers share no line with each other, malloc is not on the path, and there is no ABA: a stock's `remote`
// list is only ever emptied as a whole, by its owner. Slabs are never unmapped (nodes are type-stable): what a
// thread needed at its peak stays with it for reuse. The stock of a thread that ends is adopted by the next new one.
// When not to use it: for threads that each post a burst once and live on idle, the peak is paid per thread.
//
// `remote` - Encodes: nodes that came back, linked by free_next. Written by: loopers (CAS), owner (exchange to null).
// Publish: release, the owner acquires: whoever read the node last has done so before it is filled again.
// Breaks if weakened: pool_model_test "give back races take", a data race on the payload.
#pragma once

#include <pthread.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "base/thread_local.h"
#include "deliqueue/node.h"

namespace unjank::deliqueue {

// One thread's nodes. Takes only by its owner; give_back() from any thread.
template <class Policy, class O = Orders>
class NodeStock {
 public:
  using NodeType = Node<Policy, O>;

  // Null: nothing in stock.
  NodeType* take() {
    if (local_ == nullptr) local_ = remote_.exchange(nullptr, O::kTakeBack);
    NodeType* const node = local_;
    if (node == nullptr) return nullptr;
    local_ = node->free_next.get();
    prefetch_for_write(local_);
    return node;
  }

  // Owner.
  void put_local(NodeType* node) {
    node->free_next.set(local_);
    local_ = node;
  }

  // Any thread. first..last linked by free_next.
  void give_back(NodeType* first, NodeType* last) {
    NodeType* top = remote_.load(std::memory_order_relaxed);
    do {
      last->free_next.set(top);
    } while (!remote_.compare_exchange_strong(top, first, O::kGiveBack, std::memory_order_relaxed));
  }

 private:
  NodeType* local_ = nullptr;
  alignas(kCacheLine) typename Policy::template Atomic<NodeType*> remote_{nullptr};
};

// The shipped pool: stocks in thread-local storage over slabs.
class NodePool {
 public:
  using NodeType = ShippedNode;
  using Stock = NodeStock<StdPolicy>;

  // Null: out of memory.
  static NodeType* take() noexcept {
    Stock* stock = seat_.stock;
    if (stock == nullptr && (stock = settle_in()) == nullptr) return nullptr;
    if (NodeType* node = stock->take()) return node;
    return add_slab(*stock) ? stock->take() : nullptr;
  }

  // `first` and what it links to by free_next; null is an empty list.
  static void give_back(NodeType* first) noexcept {
    while (first != nullptr) first = give_back_run(first);
  }

 private:
  friend struct NodePoolProbe;  // node_pool_test

  // Slabs are aligned to their size, so a node's address leads to its stock.
  static constexpr std::size_t kSlabBytes = 16 * 1024;
  struct alignas(sizeof(NodeType)) Slab {
    Stock* owner;
    NodeType* nodes() { return reinterpret_cast<NodeType*>(this + 1); }
  };
  static_assert(sizeof(Slab) == sizeof(NodeType));
  static constexpr std::size_t kNodesPerSlab = kSlabBytes / sizeof(NodeType) - 1;

  static Stock* owner_of(NodeType* node) {
    return reinterpret_cast<Slab*>(reinterpret_cast<std::uintptr_t>(node) & ~(kSlabBytes - 1))->owner;
  }

  // Gives back the nodes at the front that belong to one stock; returns the rest.
  static NodeType* give_back_run(NodeType* first) {
    Stock* const owner = owner_of(first);
    NodeType* last = first;
    NodeType* rest = last->free_next.get();
    while (rest != nullptr && owner_of(rest) == owner) {
      last = rest;
      rest = last->free_next.get();
    }
    owner->give_back(first, last);
    return rest;
  }

  static bool add_slab(Stock& stock) {
    void* const memory = std::aligned_alloc(kSlabBytes, kSlabBytes);
    if (memory == nullptr) return false;
    Slab* const slab = new (memory) Slab{&stock};
    for (std::size_t i = kNodesPerSlab; i-- > 0;) stock.put_local(new (slab->nodes() + i) NodeType);
    return true;
  }

  // Stocks of threads that ended. Touched at a thread's first post and at its end, so a lock is fine.
  struct Registry {
    std::mutex mutex;
    std::vector<Stock*> abandoned;
    std::vector<Stock*> all;  // keeps every slab reachable for leak checkers
  };
  // Never destroyed: threads may outlive static destruction. fork() waits for its lock, so that it is free in the
  // child, whose other threads are gone.
  static Registry& registry() {
    static Registry* const registry = [] {
      Registry* const made = new Registry;
      pthread_atfork([] { NodePool::registry().mutex.lock(); }, [] { NodePool::registry().mutex.unlock(); },
                     [] { NodePool::registry().mutex.unlock(); });
      return made;
    }();
    return *registry;
  }

  static Stock* adopt() noexcept {
    Registry& known = registry();
    const std::lock_guard lock(known.mutex);
    if (!known.abandoned.empty()) {
      Stock* const stock = known.abandoned.back();
      known.abandoned.pop_back();
      return stock;
    }
    Stock* const stock = new (std::nothrow) Stock;
    if (stock != nullptr) {
      known.all.push_back(stock);
      known.abandoned.reserve(known.all.size());  // so that a thread's end needs no memory
    }
    return stock;
  }

  // The thread's own stock. A plain pointer, which a post reads without a call.
  struct Seat {
    Stock* stock;
    bool ended;  // the thread's destructors have begun to run: the stock may have a new tenant
  };
  static inline constinit thread_local Seat seat_ UNJANK_STATIC_TLS{nullptr, false};

  struct AtThreadEnd {
    ~AtThreadEnd() {
      Stock* const stock = std::exchange(seat_, {nullptr, true}).stock;
      if (stock == nullptr) return;
      Registry& known = registry();
      const std::lock_guard lock(known.mutex);
      known.abandoned.push_back(stock);
    }
  };
  [[gnu::noinline]] static Stock* settle_in() noexcept {
    if (seat_.ended) return nullptr;
    thread_local AtThreadEnd at_thread_end;
    static_cast<void>(&at_thread_end);  // made here, and so destroyed
    return seat_.stock = adopt();
  }
};

}  // namespace unjank::deliqueue
