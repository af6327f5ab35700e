// Measures the two native queues in one harness, and the wake-up against a bare eventfd.
//
// Each function does one measurement and returns plain numbers; repeating, pairing into ratios and printing is the
// caller's. Errors (a thread cannot be pinned, no descriptors) are thrown as std::system_error: this is not core code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "bench/placement.h"

namespace unjank::bench {

enum class QueueKind { kDeliqueue, kLegacy };

// When the messages of a run are due, seen from its start. All of them lie in the future: nothing is dispatched.
enum class DuePattern {
  kRandom,      // anywhere in the next hour
  kIncreasing,  // each later than the one before: the end of a sorted list
  kEqual,       // all at the same time
};

struct InsertCase {
  QueueKind queue = QueueKind::kDeliqueue;
  unsigned producers = 4;
  std::size_t backlog = 100'000;       // pending, and known to the looper, when the clock starts
  std::size_t per_producer = 100'000;
  DuePattern pattern = DuePattern::kRandom;
};

// Posts from several threads at once. Wall time from the first post to the end of the last, divided by all posts.
double insert_ns(const InsertCase& what);

struct DispatchCase {
  QueueKind queue = QueueKind::kDeliqueue;
  std::size_t backlog = 100'000;
  std::size_t messages = 10'000;  // handed out of it, oldest first
};
// next() per message, with `backlog` messages pending throughout: what is handed out is posted again, for later.
double dispatch_ns(const DispatchCase& what);
// The same for messages in a std::priority_queue, from which nothing can be removed: pop and look at the message.
double plain_dispatch_ns(std::size_t backlog, std::size_t messages);

struct RemoveCase {
  QueueKind queue = QueueKind::kDeliqueue;
  std::size_t backlog = 1'000;
  std::size_t removals = 1'000;
  bool by_handle = false;  // cancel(handle) instead of remove(criteria)
};
// Per removal of one message from a backlog: post it, remove it, reclaim it.
double remove_ns(const RemoveCase& what);

// Round trips, in ns each: a sleeping looper is posted to, and its message posts back to a sleeping looper.
std::vector<std::int64_t> looper_round_trips(QueueKind queue, std::size_t rounds, Placement placement);
// The same between two threads that block in read() on two eventfds, with nothing else.
std::vector<std::int64_t> eventfd_round_trips(std::size_t rounds, Placement placement);

std::string_view name_of(QueueKind queue);
std::string_view name_of(DuePattern pattern);

}  // namespace unjank::bench
