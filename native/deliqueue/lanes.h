// The looper's heaps: ordinary messages, asynchronous ones, and the sync barriers that hold ordinary ones up.
// One thread. Gives out sequence numbers: rising for posts, falling (and so newest first) for posts at the front.
#pragma once

#include <algorithm>
#include <vector>

#include "base/clock.h"
#include "deliqueue/heap.h"
#include "deliqueue/node.h"
#include "deliqueue/wake_word.h"

namespace unjank::deliqueue {

template <class NodeType>
class Lanes {
 public:
  using Lane = Heap<>;

  // `next_sequence`: of the first post. Tests start late.
  explicit Lanes(std::int32_t next_sequence = 1) : next_sequence_(next_sequence) {}

  // Call admit() for each swept node, oldest first, between begin() and settle().
  void begin_admitting() {
    settled_ordinary_ = ordinary_.size();
    settled_asynchronous_ = asynchronous_.size();
  }
  void admit(NodeType* node) {
    const State state = node->load_state();
    const Key key = key_of(*node, state);
    const Slot slot = slots_.take(node);
    node->slot.set(slot);
    if (state.kind() == Kind::kBarrier) {
      barriers_.push(key, slot);
    } else {
      lane_of(state).append(key, slot);
    }
  }
  void settle() {
    ordinary_.settle(settled_ordinary_);
    asynchronous_.settle(settled_asynchronous_);
  }

  // What may run next, due or not: null if there is nothing, or only what a barrier holds up.
  const HeapEntry* head() {
    drop_removed_barriers();
    const HeapEntry* const ordinary = held_up() || ordinary_.empty() ? nullptr : &ordinary_.head();
    if (asynchronous_.empty()) return ordinary;
    const HeapEntry* const asynchronous = &asynchronous_.head();
    if (ordinary == nullptr) return asynchronous;
    return BranchlessBefore::before(*asynchronous, *ordinary) ? asynchronous : ordinary;
  }

  NodeType* node_of(const HeapEntry& entry) const { return slots_[entry.slot]; }

  // What runs next, and what its unlinking writes, is on its way to the cache while the message at hand is done: in a
  // long backlog they lie anywhere in memory. The head's own line was asked for when it was second.
  void prefetch_next() const {
    if (ordinary_.size() < kBeyondCache) return;
    const NodeType* const node = node_of(ordinary_.head());
    prefetch_for_write(node->back.get());
    prefetch_for_write(node->next.load(std::memory_order_relaxed));
    prefetch_for_write(node_of(ordinary_.second()));
  }

  // What the looper sleeps for, given what head() returned.
  SleepPlan sleep_plan(const HeapEntry* head) const {
    if (!barriers_.empty() && held_up()) return {barriers_.head().when, true};
    return {head == nullptr ? kForever : head->when, false};
  }

  // Takes a node out of its heap, if it is in one.
  void erase(NodeType* node) {
    const Slot slot = node->slot.get();
    if (slot == kNoSlot) return;
    lane_of(node->load_state()).erase(slots_.positions().of(slot));
    leave(slot);
  }

  // Takes out every message that is due later than `cutoff`, and every barrier.
  template <class Taken>
  void extract_after(std::int64_t cutoff, Taken&& taken) {
    const auto out = [&](Slot slot) {
      NodeType* const node = slots_[slot];
      leave(slot);
      taken(node);
    };
    const auto late = [cutoff](const Key& key) { return key.when > cutoff; };
    ordinary_.extract_if(late, out);
    asynchronous_.extract_if(late, out);
    barriers_.extract_if([](const Key&) { return true; }, out);
  }

  // Messages in the heaps, tombstones that are not reclaimed yet included.
  std::size_t size() const { return ordinary_.size() + asynchronous_.size(); }

 private:
  static constexpr std::size_t kBeyondCache = 8192;  // a megabyte of nodes, about a core's own cache

  Key key_of(const NodeType& node, State state) {
    if (next_sequence_ == INT32_MAX || front_sequence_ == INT32_MIN) renumber();
    if (state.flags() & kAtFront) return {kFrontKey, --front_sequence_};
    return {node.when.get(), next_sequence_++};
  }

  // Once in 2^31 messages: what is pending gets the lowest numbers, in the same order.
  void renumber() {
    std::vector<std::int32_t> used;
    for (const Lane* lane : {&ordinary_, &asynchronous_, &barriers_}) {
      for (const HeapEntry& entry : lane->entries()) used.push_back(entry.sequence);
    }
    std::sort(used.begin(), used.end());
    const auto first_post = std::lower_bound(used.begin(), used.end(), 0);
    const auto renamed = [&](const Key& key) {
      return static_cast<std::int32_t>(std::lower_bound(used.begin(), used.end(), key.sequence) - first_post);
    };
    for (Lane* lane : {&ordinary_, &asynchronous_, &barriers_}) lane->rename_sequences(renamed);
    front_sequence_ = static_cast<std::int32_t>(used.begin() - first_post);
    next_sequence_ = static_cast<std::int32_t>(used.end() - first_post);
  }

  // Its entry is out of the heap.
  void leave(Slot slot) {
    slots_[slot]->slot.set(kNoSlot);
    slots_.free(slot);
  }

  Lane& lane_of(State state) {
    if (state.kind() == Kind::kBarrier) return barriers_;
    return state.flags() & kAsynchronous ? asynchronous_ : ordinary_;
  }

  // A barrier holds up the ordinary messages that sort after it.
  bool held_up() const {
    return !barriers_.empty() &&
           (ordinary_.empty() || BranchlessBefore::before(barriers_.head(), ordinary_.head()));
  }

  // Whoever removed it frees it, through the free-list.
  void drop_removed_barriers() {
    while (!barriers_.empty() && !node_of(barriers_.head())->pending()) leave(barriers_.pop());
  }

  Slots<NodeType*> slots_;
  Lane ordinary_{slots_.positions()};
  Lane asynchronous_{slots_.positions()};
  Lane barriers_{slots_.positions()};
  std::size_t settled_ordinary_ = 0;
  std::size_t settled_asynchronous_ = 0;
  std::int32_t next_sequence_;       // of the next post; at least 0
  std::int32_t front_sequence_ = 0;  // of the last post at the front; negative once there was one
};

}  // namespace unjank::deliqueue
