#include "bench/atomics.h"

#ifdef UNJANK_ATOMICS_ARM64
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "base/cache_line.h"
#include "base/clock.h"
#include "bench/atomics_kernels.h"
#include "bench/placement.h"
#include "bench/thread_group.h"

namespace unjank::bench {

namespace {

constexpr unsigned kBatch = 64;                  // operations between two looks at the stop flag
constexpr std::size_t kPadding = 2 * kCacheLine;  // prefetchers fetch lines in pairs
const MonotonicClock wall;

// A counter with its lock, and one without, which is an atomic's whole cost.
struct Locked {
  std::mutex lock;
  std::uint64_t counter = 0;
  std::uint64_t value() const { return counter; }
};
struct Bare {
  std::uint64_t counter = 0;
  std::uint64_t value() const { return counter; }
};

// The threads' counters, laid out as asked.
template <class Cell>
class Counters {
 public:
  Counters(Layout layout, std::size_t threads)
      : count_(layout == Layout::kShared ? 1 : threads),
        stride_(layout == Layout::kPadded ? (sizeof(Cell) + kPadding - 1) / kPadding * kPadding : sizeof(Cell)),
        memory_(::operator new(count_ * stride_, std::align_val_t{kPadding})) {
    for (std::size_t i = 0; i < count_; ++i) new (at(i)) Cell;
  }
  Counters(const Counters&) = delete;
  Counters& operator=(const Counters&) = delete;
  ~Counters() {
    for (std::size_t i = 0; i < count_; ++i) of_thread(i).~Cell();
    ::operator delete(memory_, std::align_val_t{kPadding});
  }
  Cell& of_thread(std::size_t thread) { return *static_cast<Cell*>(at(thread % count_)); }
  std::uint64_t sum() {
    std::uint64_t all = 0;
    for (std::size_t i = 0; i < count_; ++i) all += of_thread(i).value();
    return all;
  }

 private:
  void* at(std::size_t index) { return static_cast<std::byte*>(memory_) + index * stride_; }

  std::size_t count_;
  std::size_t stride_;
  void* memory_;
};

// On lines of its own: all read it all the time.
struct alignas(kPadding) StopFlag {
  std::atomic<bool> raised{false};
};

template <class Batch>
void count_until(const StopFlag& stop, int cpu, Tally& tally, Batch&& batch) {
  pin(cpu);  // allowed when the measurement began; if no longer, the CPUs seen tell
  const ThreadCounters before = own_counters();
  const std::int64_t start = wall.now_ns();
  while (!stop.raised.load(std::memory_order_relaxed)) {
    tally.retries += batch();
    tally.operations += kBatch;
    tally.side.cpus.note_own();
  }
  tally.wall_ns = wall.now_ns() - start;
  tally.side.counters = own_counters().since(before);
}

// `batch_of` makes a thread's batch from its counter.
template <class Cell, class BatchOf>
Atomics run(const AtomicsCase& what, BatchOf&& batch_of) {
  const std::size_t count = what.cpus.size();
  Counters<Cell> counters(what.layout, count);
  StopFlag stop;
  std::vector<Tally> tallies(count);
  ThreadGroup threads(
      count, [&](std::size_t i) { count_until(stop, what.cpus[i], tallies[i], batch_of(counters.of_thread(i))); });
  threads.release();
  std::this_thread::sleep_for(std::chrono::nanoseconds(what.duration_ns));
  stop.raised = true;
  threads.join();
  return {counters.sum(), std::move(tallies)};
}

const AtomicKernels& kernels_of(Instructions instructions) {
#ifdef UNJANK_ATOMICS_ARM64
  return instructions == Instructions::kLse ? kLseKernels : kLlScKernels;
#else
  static_cast<void>(instructions);
  return kNativeKernels;
#endif
}

void require_available(Instructions instructions) {
  const std::vector<Instructions> there = available_instructions();
  if (std::find(there.begin(), there.end(), instructions) == there.end()) {
    throw std::invalid_argument("this machine has no instructions '" + std::string(name_of(instructions)) + "'");
  }
}

}  // namespace

Atomics count_at_once(const AtomicsCase& what) {
  if (what.cpus.empty()) throw std::invalid_argument("threads must be at least 1");
  require_available(what.instructions);
  for (const int cpu : what.cpus) require_allowed(cpu);
  if (what.operation == Operation::kLock) {
    return run<Locked>(what, [](Locked& cell) {
      return [&cell]() -> std::uint64_t {
        for (unsigned i = 0; i < kBatch; ++i) {
          const std::lock_guard held(cell.lock);
          ++cell.counter;
        }
        return 0;
      };
    });
  }
  const AtomicKernels& kernels = kernels_of(what.instructions);
  const auto kernel = what.operation == Operation::kCasLoop ? kernels.cas_loop : kernels.fetch_add;
  return run<Bare>(what, [kernel](Bare& cell) { return [kernel, &cell] { return kernel(cell.counter, kBatch); }; });
}

std::vector<Instructions> available_instructions() {
#ifdef UNJANK_ATOMICS_ARM64
  if (getauxval(AT_HWCAP) & HWCAP_ATOMICS) return {Instructions::kLlSc, Instructions::kLse};
  return {Instructions::kLlSc};
#else
  return {Instructions::kNative};
#endif
}

std::string_view name_of(Operation operation) {
  switch (operation) {
    case Operation::kLock: return "lock";
    case Operation::kCasLoop: return "cas_loop";
    default: return "fetch_add";
  }
}

std::string_view name_of(Layout layout) {
  switch (layout) {
    case Layout::kShared: return "shared";
    case Layout::kPacked: return "packed";
    default: return "padded";
  }
}

std::string_view name_of(Instructions instructions) {
  switch (instructions) {
    case Instructions::kLlSc: return "llsc";
    case Instructions::kLse: return "lse";
    default: return "native";
  }
}

}  // namespace unjank::bench
