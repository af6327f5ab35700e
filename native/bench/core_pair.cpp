#include "bench/core_pair.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <new>
#include <system_error>
#include <thread>

#include "base/clock.h"
#include "bench/pair.h"
#include "bench/placement.h"

namespace unjank::bench {

namespace {

using Counter = std::atomic<std::uint64_t>;

const MonotonicClock wall;

constexpr std::uint64_t kTriesPerLook = 1 << 14;  // at the clock: rarely enough not to be measured
constexpr std::size_t kWarmUp = 100;              // round trips

// One page, not touched yet.
class FreshPage {
 public:
  FreshPage() {
    at_ = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at_ == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mapping a page");
  }
  FreshPage(const FreshPage&) = delete;
  FreshPage& operator=(const FreshPage&) = delete;
  ~FreshPage() { ::munmap(at_, size_); }

  // By a thread bound to `cpu`: the kernel takes the page from that CPU's memory node.
  Counter& touch_on(int cpu) {
    int error = 0;
    std::thread([&] {
      error = pin(cpu);
      new (at_) Counter(0);
    }).join();
    if (error != 0) throw std::system_error(error, std::generic_category(), "pinning a thread");
    return *static_cast<Counter*>(at_);
  }
  std::int64_t node() const {
    void* page = at_;
    int status = -1;
    if (::syscall(SYS_move_pages, 0, 1UL, &page, nullptr, &status, 0) != 0 || status < 0) return kUnknown;
    return status;
  }

 private:
  std::size_t size_ = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* at_;
};

// One of the two: turns `mine`, `mine` + 2, … into the number after it.
class Turns {
 public:
  Turns(Counter& counter, std::uint64_t mine, std::int64_t deadline)
      : counter_(counter), mine_(mine), deadline_(deadline) {}

  // False: out of patience.
  bool take(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i, mine_ += 2) {
      if (!take_one()) return false;
    }
    return true;
  }

 private:
  bool take_one() {
    for (std::uint64_t tries = 1;; ++tries) {
      std::uint64_t expected = mine_;
      if (counter_.compare_exchange_strong(expected, mine_ + 1)) return true;
      if (tries % kTriesPerLook == 0 && wall.now_ns() > deadline_) return false;
    }
  }

  Counter& counter_;
  std::uint64_t mine_;
  std::int64_t deadline_;
};

template <class Work>
int run_side(int cpu, Side& side, Work&& work) {
  if (const int error = pin(cpu)) return error;
  const ThreadCounters before = own_counters();
  side.cpus.note_own();
  work();
  side.cpus.note_own();
  side.counters = own_counters().since(before);
  return 0;
}

void time_samples(const CorePairCase& what, Turns& turns, CorePair& measured) {
  if (!turns.take(kWarmUp)) return;
  for (std::size_t sample = 0; sample < what.samples; ++sample) {
    const std::int64_t start = wall.now_ns();
    if (!turns.take(what.round_trips)) return;
    const std::int64_t took = wall.now_ns() - start;
    measured.one_way_ns.push_back(static_cast<double>(took) / static_cast<double>(2 * what.round_trips));
    measured.first.cpus.note_own();
  }
}

}  // namespace

CorePair core_pair(const CorePairCase& what) {
  for (const int cpu : {what.first, what.second, what.home}) require_allowed(cpu);
  FreshPage page;
  Counter& counter = page.touch_on(what.home);
  const std::size_t round_trips = kWarmUp + what.samples * what.round_trips;
  const std::int64_t deadline = deadline_after(wall.now_ns(), what.patience_ns);
  CorePair measured;
  measured.one_way_ns.reserve(what.samples);
  const auto first = [&] {
    Turns turns(counter, 0, deadline);
    return run_side(what.first, measured.first, [&] { time_samples(what, turns, measured); });
  };
  const auto second = [&] {
    Turns turns(counter, 1, deadline);
    return run_side(what.second, measured.second, [&] { turns.take(round_trips); });
  };
  run_as_threads(first, second);
  measured.exchanges = counter.load();
  measured.exchanges_wanted = 2 * round_trips;
  measured.node = page.node();
  return measured;
}

}  // namespace unjank::bench
