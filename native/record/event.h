// What a thread writes into its ring: one cache line per event, no pointers, no strings.
#pragma once

#include <cstdint>
#include <type_traits>

namespace unjank::record {

enum class EventKind : std::uint8_t {
  kContentionBegin,  // the waiter blocks on a lock that another thread holds
  kWaitBegin,        // the waiter blocks on purpose: a condition, event, queue, future, join
  kEnd,              // either of them ends
};

enum class LockKind : std::uint8_t { kLock, kRLock };

enum class WaitResult : std::uint8_t { kAcquired, kTimeout, kInterrupted };

/// The value of a figure that could not be had.
inline constexpr std::uint64_t kAbsent = ~std::uint64_t{0};

/// Numbers refer to the recorder's dictionary: sites, names, stacks; 0 is "unknown".
struct alignas(64) Event {
  std::int64_t ts_ns = 0;  // CLOCK_BOOTTIME
  EventKind kind = EventKind::kEnd;
  LockKind lock_kind = LockKind::kLock;
  WaitResult result = WaitResult::kAcquired;
  std::int8_t owner_nice = 0;   // end: where owner_wait_ns is known
  std::uint32_t owner = 0;      // thread number; of a join: the thread that is waited for
  std::uint32_t owner_site = 0; // where the owner took the lock; for a wait: the function that waits
  std::uint32_t site = 0;       // of the waiter
  std::uint32_t name = 0;       // of the lock, or of what is waited on
  std::uint32_t stack = 0;
  std::uint32_t waiters = 0;    // other threads that already waited
  std::uint32_t lock_id = 0;
  std::uint64_t gil_ns = kAbsent;         // end: from having the lock to having the GIL
  std::uint64_t owner_run_ns = kAbsent;   // end: the owner's CPU time during this wait
  std::uint64_t owner_wait_ns = kAbsent;  // end: the owner's time on the run queue during this wait
};

static_assert(sizeof(Event) == 64);
static_assert(std::is_trivially_copyable_v<Event>);

}  // namespace unjank::record
