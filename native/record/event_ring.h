// A bounded ring of events: one thread writes, the recorder's writer thread reads.
//
// Design. Two counters on lines of their own. The producer never waits: a full ring drops the event and
// counts it. A begin is only taken if its end, and the ends of all waits around it, will fit as well, so
// slices always nest.
// Guarantees. An event is wholly written before the consumer sees it (`publish` is a release, `filled`
// an acquire); its cell is not reused before the consumer has left it (`free_up` / `freed`).
// Cost. Memory is touched as it is first used: a thread that waits a few times costs a page, not the whole ring.
// Progress. Wait-free on both sides. When not to use it: more than one producer or consumer.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#include "base/atomic_policy.h"
#include "record/event.h"

namespace unjank::record {

/// By name, so that `event_ring_model_test` can weaken one at a time and see it fail.
struct EventRingOrders {
  static constexpr auto kPublish = std::memory_order_release;  // the cell is written
  static constexpr auto kFilled = std::memory_order_acquire;   // pairs with kPublish
  static constexpr auto kFreeUp = std::memory_order_release;   // the cell has been read
  static constexpr auto kFreed = std::memory_order_acquire;    // pairs with kFreeUp
};

template <class Policy = StdPolicy, std::size_t kCapacity = 2048, class O = EventRingOrders>
class EventRing {
  static_assert((kCapacity & (kCapacity - 1)) == 0, "a mask wraps the index");

 public:
  EventRing() = default;
  ~EventRing() {
    std::destroy_n(cells(), std::min<std::uint64_t>(head_.load(std::memory_order_relaxed), kCapacity));
  }
  EventRing(const EventRing&) = delete;
  EventRing& operator=(const EventRing&) = delete;

  static constexpr std::size_t capacity() { return kCapacity; }

  /// Producer. How many events are in the ring, at most.
  std::size_t size() const { return kCapacity - free_cells(); }

  /// Producer. The number of events now in the ring, at least 1; or 0 if this one was dropped.
  std::size_t push_begin(const Event& event) {
    // One cell for the event, one for its end, one for each end still owed.
    // Inside a dropped begin nothing is taken: ends come innermost first and could not be told apart.
    if (skipped_open_ > 0 || free_cells() < open_ + 2) {
      drop();
      ++skipped_open_;
      return 0;
    }
    ++open_;
    return put(event);
  }

  /// Producer. Ends the innermost begin, whether that was taken or dropped.
  std::size_t push_end(const Event& event) {
    if (skipped_open_ > 0) {
      --skipped_open_;
      return 0;
    }
    --open_;
    return put(event);
  }

  /// Producer. An event that stands for itself; 0 if it was dropped.
  std::size_t push(const Event& event) {
    if (free_cells() < open_ + 1) {
      drop();
      return 0;
    }
    return put(event);
  }

  /// Consumer. Calls `sink(event)` for each event that is there now; returns how many.
  template <class Sink>
  std::size_t drain(Sink&& sink) {
    const std::uint64_t begin = tail_.load(std::memory_order_relaxed);
    const std::uint64_t end = filled();
    for (std::uint64_t at = begin; at != end; ++at) sink(cells()[at & kMask].get());
    free_up(end);
    return end - begin;
  }

  /// Consumer. How many events were dropped since the last call.
  std::uint64_t take_dropped() {
    const std::uint64_t total = dropped_.load(std::memory_order_relaxed);
    const std::uint64_t fresh = total - reported_dropped_;
    reported_dropped_ = total;
    return fresh;
  }

 private:
  using Cell = typename Policy::template Plain<Event>;
  using Counter = typename Policy::template Atomic<std::uint64_t>;
  static constexpr std::uint64_t kMask = kCapacity - 1;

  Cell* cells() { return std::launder(reinterpret_cast<Cell*>(storage_)); }

  std::size_t free_cells() const {
    return kCapacity - (head_.load(std::memory_order_relaxed) - freed());
  }

  std::size_t put(const Event& event) {
    const std::uint64_t at = head_.load(std::memory_order_relaxed);
    if (at < kCapacity) new (&cells()[at]) Cell;
    cells()[at & kMask].set(event);
    publish(at + 1);
    const std::uint64_t fill = at + 1 - tail_.load(std::memory_order_relaxed);
    return std::max<std::uint64_t>(fill, 1);  // it may have been read already
  }

  void drop() { dropped_.store(dropped_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }

  void publish(std::uint64_t head) { head_.store(head, O::kPublish); }
  std::uint64_t filled() const { return head_.load(O::kFilled); }
  void free_up(std::uint64_t tail) { tail_.store(tail, O::kFreeUp); }
  std::uint64_t freed() const { return tail_.load(O::kFreed); }

  // `head_` — Encodes: events ever written. Written by: the producer. Publish: release, after the cell.
  // `open_` and `skipped_open_` (begins whose end is owed; begins dropped) are the producer's alone.
  alignas(64) Counter head_{0};
  std::size_t open_ = 0;
  std::size_t skipped_open_ = 0;
  // `dropped_` — Encodes: events refused. Written by: the producer. A count, read whenever: relaxed.
  Counter dropped_{0};
  // `tail_` — Encodes: events ever read. Written by: the consumer. Publish: release, after the copies.
  alignas(64) Counter tail_{0};
  std::uint64_t reported_dropped_ = 0;
  // Cells come into being with the ring's first lap.
  alignas(64) std::byte storage_[kCapacity * sizeof(Cell)];
};

}  // namespace unjank::record
