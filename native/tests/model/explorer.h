// Runs a small concurrent program under every schedule, and every stale read, within bounds.
//
// Threads are fibers; each atomic operation is a point where another thread may go on. Atomic variables keep all
// their stores, and a load may return any store that C++'s rules let it see (memory.h). A depth-first search replays
// the program with other choices until none is left, at most `preemptions` forced switches and `stale_reads` loads
// of an old value per run: most concurrency bugs need two (Musuvathi and Qadeer, "Iterative context bounding", 2007).
//
// Found: failed requirements, data races on Plain variables, uses of reused memory, deadlocks (so lost wake-ups),
// loops that make no progress. Not found: what needs a modification order other than that of execution, or a store
// that is read before it is executed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace unjank::model {

inline constexpr std::size_t kMaxThreads = 5;  // 0 sets up and checks

// What a thread knows of the others: their steps that happened before its own.
struct VectorClock {
  std::array<std::uint32_t, kMaxThreads> steps{};
  void join(const VectorClock& other);
};

struct Bounds {
  int preemptions = 2;
  int stale_reads = 1;
  std::size_t executions = 400'000;  // more: the search is given up as incomplete
  std::size_t random_executions = 0;  // after the search, with no bounds
  std::uint32_t seed = 1;
};

struct Outcome {
  bool complete = false;     // every choice within the bounds was tried
  std::size_t executions = 0;
  std::string failure;       // empty: none
  std::string schedule;      // of the failed run: the thread of each step
};

class Fiber;

// One run of the program.
class Execution {
 public:
  explicit Execution(class Explorer& explorer);
  ~Execution();

  // Called by the scenario.
  void spawn(std::function<void()> body);
  void finally(std::function<void()> check) { check_ = std::move(check); }

  // Called by the threads.
  void require(bool condition, const char* what) {
    if (!condition) fail(what);
  }
  [[noreturn]] void fail(const std::string& what);
  void step();                                // before each atomic operation
  void pause();                               // others go first
  void block_until(std::function<bool()> ready);
  // For memory.h
  std::size_t thread() const { return current_; }
  VectorClock& clock() { return clocks_[current_]; }
  std::uint32_t tick() { return ++clock().steps[current_]; }
  std::size_t choose_store(std::size_t candidates);
  // Keeps an object until the run is over; leaked if it failed, since its threads are left where they stood.
  void keep(std::shared_ptr<void> object) { kept_.push_back(std::move(object)); }
  // The same for what those objects' destructors still touch.
  void keep_memory(std::shared_ptr<void> object) { memory_.push_back(std::move(object)); }

  static Execution& current();

 private:
  friend class Explorer;
  enum class Phase { kReady, kPaused, kBlocked, kDone };

  void run();
  void run_check();
  void check_and_destroy();
  void resume(std::size_t thread);
  void suspend();
  void wake_paused();
  bool enabled(std::size_t thread);
  std::vector<std::size_t> others_enabled();
  void hand_over();
  std::size_t next_thread();
  std::string blocked_threads() const;

  class Explorer& explorer_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::array<Phase, kMaxThreads> phases_{};
  std::array<std::function<bool()>, kMaxThreads> conditions_;
  std::array<VectorClock, kMaxThreads> clocks_{};
  std::function<void()> check_;
  std::vector<std::shared_ptr<void>> memory_;
  std::vector<std::shared_ptr<void>> kept_;
  std::size_t current_ = 0;
  std::size_t next_ = 0;
  bool scheduling_ = false;
  int preemptions_ = 0;
  int stale_reads_ = 0;
  std::size_t steps_ = 0;
  std::string schedule_;
  std::string failure_;
};

using Scenario = std::function<void(Execution&)>;

Outcome explore(const Bounds& bounds, const Scenario& scenario);

}  // namespace unjank::model
