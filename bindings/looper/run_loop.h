// The loop of a looper's thread. Each function returns false (or kRaised) with an exception set.
#pragma once

#include "types.h"

namespace unjank::looper {

// The id under which the poller reports the signal descriptor; listeners count from 1.
inline constexpr std::uint64_t kSignalId = 0;

// Dispatches until the queue has quit, then closes.
bool run_loop(LooperObject* looper);

enum class Step { kRaised, kNothingDue, kDispatched, kQuit };
// Dispatches the next due message. If none is due, sleeps until something may be, or for `limit_ns` of the monotonic
// clock (kForever: no limit), and handles what became ready.
Step step(LooperObject* looper, std::int64_t limit_ns);

// Quits the queue and drops what it holds; for a looper that no thread runs any more.
void shut_down(LooperObject* looper);

}  // namespace unjank::looper
