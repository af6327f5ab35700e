// Whether a post must wake the looper, in one word that producers only read.
//
// The looper writes the word before it sleeps and reads the stack's top afterwards; a producer changes the top and
// reads the word afterwards. In the one order of these four seq_cst operations either the looper sees the new top
// and stays awake, or the producer sees the looper asleep. Of several producers the one whose exchange finds the
// looper asleep writes the wake handle: wake-ups coalesce. The price: if that producer is taken off its CPU between
// the exchange and the write, the others' messages wait for it, too.
//
// `word` - Encodes: kAwake; or asleep until a deadline (value << 1); or asleep behind a sync barrier (value << 1 | 1,
// value: the barrier's due time). Behind a barrier an ordinary post wakes the looper only if it sorts before the
// barrier, an asynchronous one always. Written by: looper (fall_asleep, awake), and the producer whose exchange wins.
// A reader may conclude from kAwake: the looper will sweep my push before it sleeps. Breaks if weakened, or without
// the looper's second look at the top: lost wake-up (sleep_model_test "post races sleep").
#pragma once

#include <cstdint>

#include "base/cache_line.h"
#include "deliqueue/node.h"

namespace unjank::deliqueue {

inline constexpr std::int64_t kAwake = INT64_MIN;

// What the looper sleeps for.
struct SleepPlan {
  std::int64_t due;     // no barrier stands: the next deadline; else the barrier's due time
  bool behind_barrier;
  std::int64_t word() const { return due * 2 + behind_barrier; }
};

template <class Policy, class O = Orders>
class WakeWord {
 public:
  void fall_asleep(SleepPlan plan) { word_.store(plan.word(), O::kFallAsleep); }
  // Relaxed: a producer that still reads the old word wakes an awake looper, once.
  void awake() { word_.store(kAwake, std::memory_order_relaxed); }

  // The word if a message due at `when` calls for a wake-up, else kAwake.
  std::int64_t sleeper(std::int64_t when, bool asynchronous) const {
    const std::int64_t word = word_.load(O::kReadSleeper);
    const bool asynchronous_behind_barrier = asynchronous & word & 1;
    return (when < word >> 1) | asynchronous_behind_barrier ? word : kAwake;
  }
  // The same for events that always count: quit, a removed barrier, a full batch of tombstones.
  std::int64_t sleeper() const { return word_.load(O::kReadSleeper); }

  // True for one of the threads that found the looper asleep: it must wake it.
  bool win() { return word_.exchange(kAwake, std::memory_order_relaxed) != kAwake; }
  // The winner could not write the handle: let the next poster try.
  void give_up(std::int64_t word) {
    std::int64_t awake = kAwake;
    word_.compare_exchange_strong(awake, word, std::memory_order_relaxed, std::memory_order_relaxed);
  }

 private:
  alignas(kCacheLine) typename Policy::template Atomic<std::int64_t> word_{kAwake};
};

}  // namespace unjank::deliqueue
