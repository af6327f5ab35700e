// What a thread writes into its ring: one cache line per event, no pointers, no strings.
#pragma once

#include <cstdint>
#include <type_traits>

namespace unjank::record {

enum class EventKind : std::uint8_t {
  kContentionBegin,  // the waiter blocks on a lock that another thread holds
  kWaitBegin,        // the waiter blocks on purpose: a condition, event, queue, future, join
  kEnd,              // either of them ends
  kPost,             // a message for a looper
  kDispatchBegin,    // the looper calls what a message is for
  kDispatchEnd,
  kQueueLength,      // messages were removed
};

enum class LockKind : std::uint8_t { kLock, kRLock };

enum class WaitResult : std::uint8_t { kAcquired, kTimeout, kInterrupted };

/// The value of a figure that could not be had.
inline constexpr std::uint64_t kAbsent = ~std::uint64_t{0};

/// Numbers refer to the recorder's dictionary: sites, names, stacks; 0 is "unknown". Events of message queues have their
/// own names for what is theirs alone.
struct alignas(64) Event {
  std::int64_t ts_ns = 0;  // CLOCK_BOOTTIME
  EventKind kind = EventKind::kEnd;
  LockKind lock_kind = LockKind::kLock;
  WaitResult result = WaitResult::kAcquired;
  std::int8_t owner_nice = 0;   // end: where owner_wait_ns is known
  union {
    std::uint32_t owner = 0;       // thread number; of a join: the thread that is waited for
    std::uint32_t looper_tid;      // kernel's id of the looper's thread
  };
  union {
    std::uint32_t owner_site = 0;  // where the owner took the lock; for a wait: the function that waits
    std::uint32_t target;          // site: what the message calls
  };
  std::uint32_t site = 0;          // of the waiter, of the poster
  union {
    std::uint32_t name = 0;        // of the lock, or of what is waited on
    std::uint32_t handler;         // site: the handler's class
  };
  std::uint32_t stack = 0;
  union {
    std::uint32_t waiters = 0;     // other threads that already waited
    std::uint32_t pending;         // messages in the queue, afterwards
  };
  union {
    std::uint32_t lock_id = 0;
    std::uint32_t looper;          // counts the process's loopers from 1
  };
  union {
    std::uint64_t gil_ns = kAbsent;         // end: from having the lock to having the GIL
    std::uint64_t flow;                     // the same at the post and the dispatch of a message
  };
  union {
    std::uint64_t owner_run_ns = kAbsent;   // end: the owner's CPU time during this wait
    std::uint64_t delay_ns;                 // post: until the message is due; dispatch: since it was due
  };
  union {
    std::uint64_t owner_wait_ns = kAbsent;  // end: the owner's time on the run queue during this wait
    std::uint64_t what;                     // code of a message that its handler handles
  };
};

static_assert(sizeof(Event) == 64);
static_assert(std::is_trivially_copyable_v<Event>);

/// With nothing known but its time.
inline Event event_at(EventKind kind, std::int64_t ts_ns) {
  Event event;
  event.kind = kind;
  event.ts_ns = ts_ns;
  return event;
}

}  // namespace unjank::record
