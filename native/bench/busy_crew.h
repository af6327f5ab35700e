// Busy threads at given priorities and places: who gets how much of a CPU.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "bench/counters.h"

namespace unjank::bench {

struct BusyThread {
  int nice = 0;
  int cpu = -1;  // -1: wherever the scheduler puts it
};

// What one of them did.
struct BusyReport {
  int nice = 0;  // as the kernel told it, at the end
  Side side;
};

// The threads are there, bound and with their priority, when the constructor is through; they work from start() on. They end
// with stop() or the object, and with them what was changed: nothing is left to restore.
class BusyCrew {
 public:
  // Throws std::system_error if a CPU or a nice value is not allowed.
  explicit BusyCrew(const std::vector<BusyThread>& threads);
  ~BusyCrew();
  BusyCrew(const BusyCrew&) = delete;
  BusyCrew& operator=(const BusyCrew&) = delete;

  void start();
  // Ends them; as many as there are threads.
  std::vector<BusyReport> stop();
  // Between start() and stop().
  std::int64_t wall_ns() const { return wall_ns_; }

 private:
  BusyCrew() = default;  // the public constructor builds on it: if that one throws, the destructor runs

  enum Phase : int { kWait, kWork, kEnd };
  struct Member {
    BusyThread what;
    BusyReport report;
    int error = 0;
    std::thread thread;
  };

  int prepare(const BusyThread& what) noexcept;
  void live(Member& member) noexcept;
  void move_to(Phase phase) noexcept;
  void end() noexcept;

  std::atomic<int> phase_{kWait};         // only goes up; written by start() and end(), looked at by all threads
  std::atomic<std::size_t> prepared_{0};  // threads that are bound or have failed; publishes their `error`
  std::vector<std::unique_ptr<Member>> members_;
  std::int64_t wall_ns_ = 0;
};

}  // namespace unjank::bench
