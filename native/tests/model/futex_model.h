// The futex as the model tests see it.
//
// `wait` sleeps only if the low half of the newest word is what was expected; looking and lying down are one step,
// as under the kernel's bucket lock. `wake_one` wakes one of those asleep at that moment, never a later one; which
// one is a choice of the schedule. The kernel orders nothing here: the lock must not lean on it for that.
// The deadline tells what else may end a sleep, at any moment of the schedule.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "base/futex.h"
#include "tests/model/memory.h"

namespace unjank::model {

inline constexpr std::int64_t kMayTimeOut = 1;
inline constexpr std::int64_t kMayBeInterrupted = 2;

// Who sleeps on one word, and the wake-ups that have not been taken yet.
class SleepQueue {
 public:
  WaitEnd sleep(std::int64_t ends_by) {
    const std::uint64_t ticket = next_ticket_++;
    sleepers_.push_back(ticket);
    const bool leaves_alone = ends_by != kNoDeadline;
    const auto may_rise = [this, ticket, leaves_alone] {
      return woken(ticket) || (leaves_alone && sleepers_.size() > wakes_.size());
    };
    // Two sleepers may be told of one wake-up; the other one's is gone when its turn comes.
    do Execution::current().block_until(may_rise);
    while (!may_rise());
    return rise(ticket, ends_by);
  }

  void wake_one() {
    if (sleepers_.size() > wakes_.size()) wakes_.push_back(next_ticket_);
  }

 private:
  // A wake-up is for those that lay down before it.
  std::vector<std::uint64_t>::iterator wake_for(std::uint64_t ticket) {
    return std::find_if(wakes_.begin(), wakes_.end(), [ticket](std::uint64_t until) { return ticket < until; });
  }
  bool woken(std::uint64_t ticket) { return wake_for(ticket) != wakes_.end(); }
  WaitEnd rise(std::uint64_t ticket, std::int64_t ends_by) {
    std::erase(sleepers_, ticket);
    if (woken(ticket)) {
      wakes_.erase(wake_for(ticket));
      return WaitEnd::kWoken;
    }
    return ends_by == kMayTimeOut ? WaitEnd::kTimedOut : WaitEnd::kInterrupted;
  }

  std::uint64_t next_ticket_ = 0;
  std::vector<std::uint64_t> sleepers_;
  std::vector<std::uint64_t> wakes_;
};

struct FutexPolicy {
  template <class T>
  using Atomic = model::Atomic<T>;

  // The queue of the one lock of a run; the scenario makes it anew each time.
  static std::shared_ptr<SleepQueue>& queue() {
    static std::shared_ptr<SleepQueue> queue;
    return queue;
  }

  static WaitEnd wait(Atomic<std::uint64_t>& word, std::uint32_t expected, std::int64_t ends_by) {
    // A modification reads the newest value; the kernel never sees a stale one.
    const std::uint64_t now = word.fetch_or(0, std::memory_order_relaxed);
    if (static_cast<std::uint32_t>(now) != expected) return WaitEnd::kWoken;
    return queue()->sleep(ends_by);
  }

  static void wake_one(Atomic<std::uint64_t>&) {
    Execution::current().step();
    queue()->wake_one();
  }
};

}  // namespace unjank::model
