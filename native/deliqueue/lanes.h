// The looper's heaps: ordinary messages, asynchronous ones, and the sync barriers that hold ordinary ones up.
// One thread. Gives out sequence numbers: rising for posts, falling (and so newest first) for posts at the front.
#pragma once

#include "deliqueue/heap.h"
#include "deliqueue/node.h"
#include "deliqueue/wake_word.h"

namespace unjank::deliqueue {

template <class NodeType>
struct HeapIndex {
  static void moved(NodeType* node, std::size_t index) { node->heap_index.set(static_cast<std::uint32_t>(index)); }
};

template <class NodeType>
class Lanes {
 public:
  using Lane = Heap<NodeType*, HeapIndex<NodeType>>;
  using Entry = typename Lane::Entry;

  // Call admit() for each swept node, oldest first, between begin() and settle().
  void begin_admitting() {
    settled_ordinary_ = ordinary_.size();
    settled_asynchronous_ = asynchronous_.size();
  }
  void admit(NodeType* node) {
    const State state = node->load_state();
    if (state.kind() == Kind::kBarrier) {
      barriers_.push({node->when.get(), next_sequence_++}, node);
      return;
    }
    Lane& lane = state.flags() & kAsynchronous ? asynchronous_ : ordinary_;
    lane.append(key_of(*node, state), node);
  }
  void settle() {
    ordinary_.settle(settled_ordinary_);
    asynchronous_.settle(settled_asynchronous_);
  }

  // What may run next, due or not: null if there is nothing, or only what a barrier holds up.
  const Entry* head() {
    drop_removed_barriers();
    const Entry* const ordinary = held_up() || ordinary_.empty() ? nullptr : &ordinary_.head();
    if (asynchronous_.empty()) return ordinary;
    const Entry* const asynchronous = &asynchronous_.head();
    if (ordinary == nullptr) return asynchronous;
    return BranchlessBefore::before(asynchronous->key, ordinary->key) ? asynchronous : ordinary;
  }

  // What the looper sleeps for, given what head() returned.
  SleepPlan sleep_plan(const Entry* head) const {
    if (!barriers_.empty() && held_up()) return {barriers_.head().key.when, true};
    return {head == nullptr ? kForever : head->key.when, false};
  }

  // Takes a node out of its heap, if it is in one.
  void erase(NodeType* node) {
    const std::uint32_t index = node->heap_index.get();
    if (index == kNotInHeap) return;
    lane_of(node->load_state()).erase(index);
    node->heap_index.set(kNotInHeap);
  }

  // Takes out every message that is due later than `cutoff`, and every barrier.
  template <class Taken>
  void extract_after(std::int64_t cutoff, Taken&& taken) {
    const auto out = [&](NodeType* node) {
      node->heap_index.set(kNotInHeap);
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
  Key key_of(const NodeType& node, State state) {
    if (state.flags() & kAtFront) return {kFrontKey, --front_sequence_};
    return {node.when.get(), next_sequence_++};
  }

  Lane& lane_of(State state) {
    if (state.kind() == Kind::kBarrier) return barriers_;
    return state.flags() & kAsynchronous ? asynchronous_ : ordinary_;
  }

  // A barrier holds up the ordinary messages that sort after it.
  bool held_up() const {
    return !barriers_.empty() &&
           (ordinary_.empty() || BranchlessBefore::before(barriers_.head().key, ordinary_.head().key));
  }

  // Whoever removed it frees it, through the free-list.
  void drop_removed_barriers() {
    while (!barriers_.empty() && !barriers_.head().item->pending()) barriers_.pop()->heap_index.set(kNotInHeap);
  }

  Lane ordinary_;
  Lane asynchronous_;
  Lane barriers_;
  std::size_t settled_ordinary_ = 0;
  std::size_t settled_asynchronous_ = 0;
  std::int64_t next_sequence_ = 1;
  std::int64_t front_sequence_ = 0;
};

}  // namespace unjank::deliqueue
