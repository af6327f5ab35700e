// A mutex whose one word says who holds it and where it was taken.
//
// Design. Everything a waiter wants to know about the owner has to be there the moment the lock is
// seen locked, or it blames the wrong thread. So the owner's number and acquire site live in the very
// word that the acquiring CAS writes: taking the lock and publishing who took it is one operation.
//
//   bit 0        locked
//   bit 1        threads may be asleep on the word
//   bits 2..31   number of the owning thread (0: unknown)
//   bits 32..63  site where the owner took it (0: unknown)
//
// Guarantees. Mutual exclusion; what happened before `release` happens before the `try_acquire` or
// `block` that next takes the lock (release on the exchange, acquire on the CAS). Any thread may
// release. No lost wake-up: see `block`.
// Progress. Barging is allowed, as with threading.Lock: a running thread may take a free lock ahead of
// a sleeper. Nobody spins.
// Cost. Uncontended: one CAS and one exchange, no system call.
// When not to use it. Where nobody asks who the owner is; where fairness is needed.
#pragma once

#include <cstdint>

#include "base/futex.h"

namespace unjank::record {

/// "No deadline" for `LockWord::block`.
inline constexpr std::int64_t kForever = kNoDeadline;

/// Who holds a lock, decoded from its word.
struct Holder {
  std::uint32_t thread = 0;
  std::uint32_t site = 0;
};

enum class BlockEnd { kAcquired, kTimedOut, kInterrupted };

/// Every order and step that could be got wrong, by name. `lock_word_model_test` weakens one at a time and must fail.
struct LockWordOrders {
  static constexpr auto kTake = std::memory_order_acquire;  // pairs with kFree
  static constexpr auto kFree = std::memory_order_release;  // hands over what the owner wrote
  static constexpr auto kPeek = std::memory_order_acquire;  // pairs with kFree and kMark: the count is read next
  static constexpr auto kMark = std::memory_order_release;  // publishes that this waiter is counted
  static constexpr bool kCountBeforeMark = true;
  static constexpr bool kMarkAlways = true;  // where the mark is there already as well
  static constexpr bool kTakeMarked = true;  // while others wait
};

template <class Policy = FutexPolicy, class O = LockWordOrders>
class LockWord {
 public:
  static constexpr std::uint64_t kLocked = 1;
  static constexpr std::uint64_t kSleepers = 2;
  static constexpr std::uint32_t kMaxThread = (1u << 30) - 1;

  static constexpr std::uint64_t pack(Holder holder) {
    return std::uint64_t{holder.site} << 32 | std::uint64_t{holder.thread & kMaxThread} << 2 | kLocked;
  }
  static constexpr Holder unpack(std::uint64_t word) {
    return {static_cast<std::uint32_t>(word >> 2) & kMaxThread, static_cast<std::uint32_t>(word >> 32)};
  }

  /// With the mark while others wait, so that each release wakes one, as with the semaphore under CPython's
  /// locks. Otherwise all of them would sleep until the one that was woken last has had its turn, which on a
  /// busy machine may take long.
  bool try_acquire(Holder me) { return take_free(pack(me) | (waiting() > 0 ? kSleepers : 0)); }

  /// Takes the lock, sleeping until it is free or the deadline passes. A signal ends the wait early
  /// with kInterrupted, so that the caller can run Python's handlers.
  ///
  /// Why no wake-up is lost: a sleeper sets kSleepers in the word it then sleeps on, so a release that
  /// comes later sees the bit and wakes one; a release that came earlier changed the word, so the futex
  /// refuses to sleep. `release` clears the bit for all sleepers, therefore the one it wakes must put it
  /// back: if it gets the lock and others are counted, it takes it with the bit set; if a barger was
  /// faster, it sets the bit on the barger's word before it sleeps again or gives up.
  BlockEnd block(Holder me, std::int64_t deadline_ns) {
    if constexpr (O::kCountBeforeMark) waiting_.fetch_add(1, std::memory_order_relaxed);
    const BlockEnd end = block_counted(pack(me), deadline_ns);
    waiting_.fetch_sub(1, std::memory_order_relaxed);
    return end;
  }

  /// Frees the lock and wakes one sleeper. False if it was not locked.
  bool release() {
    const std::uint64_t before = word_.exchange(0, O::kFree);
    if (before & kSleepers) Policy::wake_one(word_);
    return before & kLocked;
  }

  /// The word now; 0 when free. Only a hint to anyone but the owner.
  std::uint64_t peek() const { return word_.load(O::kPeek); }
  bool locked() const { return peek() & kLocked; }

  /// How many threads wait for the lock at this moment.
  std::uint32_t waiting() const { return waiting_.load(std::memory_order_relaxed); }

  /// Free, nobody waits: for a forked child, where the other threads are gone.
  void reset() {
    word_.store(0, std::memory_order_relaxed);
    waiting_.store(0, std::memory_order_relaxed);
  }

 private:
  using Word = typename Policy::template Atomic<std::uint64_t>;

  bool take_free(std::uint64_t mine) {
    std::uint64_t free = 0;
    return word_.compare_exchange_strong(free, mine, O::kTake, std::memory_order_relaxed);
  }

  BlockEnd block_counted(std::uint64_t mine, std::int64_t deadline_ns) {
    WaitEnd last = WaitEnd::kWoken;
    for (;;) {
      std::uint64_t seen = peek();
      if (seen == 0) {
        if (take_free(mine | sleepers_bit())) return BlockEnd::kAcquired;
        continue;
      }
      if (!mark_sleepers(seen)) continue;
      if constexpr (!O::kCountBeforeMark) waiting_.fetch_add(1, std::memory_order_relaxed);
      if (last == WaitEnd::kTimedOut) return BlockEnd::kTimedOut;
      if (last == WaitEnd::kInterrupted) return BlockEnd::kInterrupted;
      last = Policy::wait(word_, static_cast<std::uint32_t>(seen | kSleepers), deadline_ns);
    }
  }

  /// Others besides this waiter are counted: some of them may be asleep on a bit that release cleared.
  std::uint64_t sleepers_bit() const { return O::kTakeMarked && waiting() > 1 ? kSleepers : 0; }

  /// Where the mark is there already as well: the word must carry on that this waiter is counted.
  bool mark_sleepers(std::uint64_t seen) {
    if (!O::kMarkAlways && (seen & kSleepers)) return true;
    return word_.compare_exchange_strong(seen, seen | kSleepers, O::kMark, std::memory_order_relaxed);
  }

  // `word_` — Encodes: see the table above. Written by: whoever takes, frees or is about to sleep on the
  // lock. Publish: acquire on taking, release on freeing. Breaks if weakened: the owner's writes may not
  // be seen by the next owner; caught by `lock_word_model_test: exclusion`.
  Word word_{0};
  // `waiting_` — Encodes: threads inside `block`. Written by: those threads. Relaxed: a waiter counts itself
  // before it marks the word, and its mark heads a release sequence that the release of the lock goes on with;
  // so whoever sees the freed word sees the count. Breaks if the count came after the mark, or if a waiter
  // relied on another one's mark: a lost wake-up; caught by `lock_word_model_test: several sleepers`.
  typename Policy::template Atomic<std::uint32_t> waiting_{0};
};

static_assert(sizeof(LockWord<>) == 16);

}  // namespace unjank::record
