// The slow path of a lock: the wait itself, and what is recorded of it.
#pragma once

#include <Python.h>

#include <sys/types.h>

#include <atomic>
#include <cstdint>

#include "places.h"
#include "record/lock_word.h"

namespace unjank::record {

/// What every recorded lock type consists of.
struct LockState {
  LockWord<> word;
  // `id` — Encodes: the lock's number in the trace, 0 until it is first waited for. Written by: the first
  // waiter whose CAS wins. A number only: relaxed.
  std::atomic<std::uint32_t> id{0};
  std::uint32_t name = 0;  // dictionary; written once, by the constructor
};

enum class AcquireOutcome { kAcquired, kTimedOut, kRaised };

/// Waits for a lock that was found taken. Lets other Python threads run, runs Python's signal handlers when a
/// signal comes; kRaised if one of them raised. `deadline_ns` is on CLOCK_MONOTONIC, or kForever.
AcquireOutcome acquire_slowly(LockState& lock, LockKind kind, ThreadPlaces& places, Holder me,
                              std::int64_t deadline_ns);
/// The same for a wait that must not fail: no time limit, and Python's signal handlers run after it.
void acquire_for_sure(LockState& lock, LockKind kind, ThreadPlaces& places, Holder me);

/// A wait that is no lock's: begins it in the trace. True if `end_wait` is owed.
bool begin_wait(ThreadPlaces& places, const std::string& function, std::uint32_t object_name);
/// A wait for the end of the thread with this kernel id. Threads' names are the registry's: the dictionary would
/// fill up with them.
bool begin_join(ThreadPlaces& places, pid_t joined);
void end_wait(ThreadPlaces& places, WaitResult result);

}  // namespace unjank::record
