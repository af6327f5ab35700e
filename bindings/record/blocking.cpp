#include "blocking.h"

#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "base/schedstat.h"
#include "record/boot_clock.h"

namespace unjank::record {

namespace {

std::uint32_t id_of(LockState& lock) {
  static std::atomic<std::uint32_t> last{0};
  std::uint32_t id = lock.id.load(std::memory_order_relaxed);
  if (id != 0) return id;
  const std::uint32_t fresh = last.fetch_add(1, std::memory_order_relaxed) + 1;
  return lock.id.compare_exchange_strong(id, fresh, std::memory_order_relaxed) ? fresh : id;
}

/// Which function the program is waiting in, and from where it called it.
struct WaitPlace {
  std::uint32_t function = 0;  // site in threading.py or a library; 0 if the program took the lock itself
  std::uint32_t caller = 0;
};

WaitPlace wait_place(ThreadPlaces& places) {
  WaitPlace found;
  UnjankFrame frame;
  for (int more = unjank_frame_current(&frame); more; more = unjank_frame_outer(&frame)) {
    const Place place = places.place_of(frame);
    if (place.role == FileRole::kProgram) {
      found.caller = place.site;
      break;
    }
    if (place.role != FileRole::kOwn) found.function = place.site;
  }
  // A library's own thread has no caller in the program: then the library's function is the place.
  if (found.caller == 0) found.caller = found.function;
  return found;
}

void describe_wait(Event& event, ThreadPlaces& places) {
  const WaitPlace place = wait_place(places);
  event.kind = EventKind::kWaitBegin;
  event.site = place.caller;
  event.owner_site = place.function;
  if (place.function == 0) {
    event.owner_site = named_function("Lock.acquire");
  } else if (places.last_released != 0) {
    event.name = places.last_released;
  }
}

/// The thread's nice value, or what was known of it if it is gone.
std::int8_t nice_of(pid_t tid, std::int8_t known) {
  errno = 0;
  const int nice = getpriority(PRIO_PROCESS, static_cast<id_t>(tid));
  return errno == 0 ? static_cast<std::int8_t>(nice) : known;
}

/// What is recorded of one wait. Nothing, where nothing is being recorded.
class RecordedWait {
 public:
  /// `seen` is the lock's word as it was found taken.
  RecordedWait(LockState& lock, std::uint64_t seen, LockKind kind, ThreadPlaces& places) : places_(places) {
    if (!Recorder::instance().recording()) return;
    owner_ = LockWord<>::unpack(seen);
    Event event;
    event.lock_kind = kind;
    event.name = lock.name;
    event.lock_id = id_of(lock);
    event.stack = places.stack();
    if (owner_.thread == places.number()) {
      describe_wait(event, places);
    } else {
      event.kind = EventKind::kContentionBegin;
      event.owner = owner_.thread;
      event.owner_site = owner_.site;
      event.site = places.acquire_site();
      event.waiters = lock.word.waiting();
      owner_before_ = sample_owner();
    }
    event.ts_ns = begun_ns_ = boot_ns();
    begun_ = Recorder::instance().begin(places.log(), event);
  }

  /// Without the GIL, right when the wait is over.
  void over() {
    if (!begun_) return;
    end_.ts_ns = boot_ns();
    if (!owner_before_) return;
    const auto after = sample_owner();
    if (!after) return;
    end_.owner_run_ns = within_wait(after->run_ns - owner_before_->run_ns);
    // The kernel books a stay on the run queue when it ends: one that began before this wait counts in full.
    end_.owner_wait_ns = within_wait(after->wait_ns - owner_before_->wait_ns + end_.owner_run_ns) - end_.owner_run_ns;
  }

  /// With the GIL again.
  void finish(WaitResult result) {
    if (!begun_) return;
    end_.result = result;
#ifndef Py_GIL_DISABLED
    end_.gil_ns = static_cast<std::uint64_t>(boot_ns() - end_.ts_ns);
#endif
    Recorder::instance().end(places_.log(), end_);
  }

 private:
  std::optional<SchedStat> sample_owner() {
    if (!Recorder::instance().samples_owner() || owner_.thread == 0) return std::nullopt;
    const auto tid = Recorder::instance().threads().tid_of(owner_.thread);
    if (!tid) return std::nullopt;
    end_.owner_nice = nice_of(*tid, end_.owner_nice);
    return read_schedstat(*tid);
  }

  std::uint64_t within_wait(std::uint64_t ns) const {
    return std::min(ns, static_cast<std::uint64_t>(end_.ts_ns - begun_ns_));
  }

  ThreadPlaces& places_;
  Holder owner_;
  std::int64_t begun_ns_ = 0;
  bool begun_ = false;
  std::optional<SchedStat> owner_before_;
  Event end_;
};

BlockEnd block_without_gil(LockState& lock, Holder me, std::int64_t deadline_ns, RecordedWait& recorded) {
  BlockEnd end;
  Py_BEGIN_ALLOW_THREADS
  end = lock.word.block(me, deadline_ns);
  recorded.over();
  Py_END_ALLOW_THREADS
  return end;
}

AcquireOutcome outcome_of(BlockEnd end) {
  return end == BlockEnd::kAcquired ? AcquireOutcome::kAcquired : AcquireOutcome::kTimedOut;
}

bool begin_wait_in(ThreadPlaces& places, const std::string& function, Event& event) {
  event.kind = EventKind::kWaitBegin;
  event.owner_site = named_function(function);
  event.site = wait_place(places).caller;
  event.stack = places.stack();
  event.ts_ns = boot_ns();
  return Recorder::instance().begin(places.log(), event);
}

/// The word of a lock that is taken; 0 once this thread has taken it itself, which it may have become free for.
std::uint64_t taken_or_ours(LockState& lock, Holder me) {
  for (;;) {
    if (lock.word.try_acquire(me)) return 0;
    if (const std::uint64_t seen = lock.word.peek(); seen != 0) return seen;
  }
}

}  // namespace

AcquireOutcome acquire_slowly(LockState& lock, LockKind kind, ThreadPlaces& places, Holder me,
                              std::int64_t deadline_ns) {
  const std::uint64_t seen = taken_or_ours(lock, me);
  if (seen == 0) return AcquireOutcome::kAcquired;
  RecordedWait recorded(lock, seen, kind, places);
  for (;;) {
    const BlockEnd end = block_without_gil(lock, me, deadline_ns, recorded);
    if (end != BlockEnd::kInterrupted) {
      recorded.finish(end == BlockEnd::kAcquired ? WaitResult::kAcquired : WaitResult::kTimeout);
      return outcome_of(end);
    }
    if (Py_MakePendingCalls() < 0) {
      recorded.finish(WaitResult::kInterrupted);
      return AcquireOutcome::kRaised;
    }
  }
}

void acquire_for_sure(LockState& lock, LockKind kind, ThreadPlaces& places, Holder me) {
  const std::uint64_t seen = taken_or_ours(lock, me);
  if (seen == 0) return;
  RecordedWait recorded(lock, seen, kind, places);
  while (block_without_gil(lock, me, kForever, recorded) != BlockEnd::kAcquired) {
  }
  recorded.finish(WaitResult::kAcquired);
}

bool begin_wait(ThreadPlaces& places, const std::string& function, std::uint32_t object_name) {
  if (!Recorder::instance().recording()) return false;
  Event event;
  event.name = object_name;
  return begin_wait_in(places, function, event);
}

bool begin_join(ThreadPlaces& places, pid_t joined) {
  if (!Recorder::instance().recording()) return false;
  Event event;
  event.owner = Recorder::instance().threads().number_of(joined);
  return begin_wait_in(places, "Thread.join", event);
}

void end_wait(ThreadPlaces& places, WaitResult result) {
  Event event;
  event.result = result;
  event.ts_ns = boot_ns();
  Recorder::instance().end(places.log(), event);
}

}  // namespace unjank::record
