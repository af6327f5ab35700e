// What the recorder keeps of one thread.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "record/event_ring.h"

namespace unjank::record {

using Ring = EventRing<>;

/// What the scheduler was told about a thread.
struct SchedFacts {
  int nice = 0;
  std::string cpus;  // CPU list: 0-3,5

  bool operator==(const SchedFacts&) const = default;
};

/// False where the thread is gone. `tid` 0 is the caller.
bool read_sched_facts(pid_t tid, SchedFacts& facts);

/// | member           | written by            | read by                              |
/// |------------------|-----------------------|--------------------------------------|
/// | number, born_ns  | creation              | all                                  |
/// | tid              | creation, fork child  | all (relaxed: a number)              |
/// | ring             | its thread, once      | writer (release / acquire)           |
/// | exited           | its thread, once      | writer (release / acquire)           |
/// | name, renamed    | under registry's lock | under registry's lock                |
/// | written, facts … | writer                | writer                               |
struct ThreadLog {
  ThreadLog(std::uint32_t number, pid_t tid, std::int64_t born_ns) : number(number), born_ns(born_ns), tid(tid) {}
  ~ThreadLog() { delete ring.load(std::memory_order_acquire); }
  ThreadLog(const ThreadLog&) = delete;
  ThreadLog& operator=(const ThreadLog&) = delete;

  /// Its thread only: the ring, made on the first event, since most threads never wait.
  Ring& own_ring() {
    if (Ring* mine = ring.load(std::memory_order_relaxed)) return *mine;
    Ring* fresh = new Ring;
    ring.store(fresh, std::memory_order_release);
    return *fresh;
  }

  const std::uint32_t number;
  const std::int64_t born_ns;
  std::atomic<pid_t> tid;
  std::atomic<Ring*> ring{nullptr};
  std::atomic<bool> exited{false};

  std::string name;
  bool renamed = true;

  std::uint64_t described_in = 0;  // the session whose file has this thread's descriptor
  std::uint64_t open_slices = 0;   // begins written in this session and not yet ended
  SchedFacts facts;
};

}  // namespace unjank::record
