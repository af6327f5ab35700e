#include "tests/model/explorer.h"

#include <ucontext.h>

#include <algorithm>
#include <cstdlib>

namespace unjank::model {

namespace {
constexpr std::size_t kStackBytes = 128 * 1024;
constexpr std::size_t kMaxSteps = 20'000;
Execution* running = nullptr;

// Stacks are used again by the next run; they are what a fiber costs.
std::vector<std::unique_ptr<std::byte[]>>& spare_stacks() {
  static std::vector<std::unique_ptr<std::byte[]>> stacks;
  return stacks;
}
}  // namespace

// A thread of the program: a body on its own stack. Control goes back and forth with the explorer's own context.
class Fiber {
 public:
  explicit Fiber(std::function<void()> body) : body_(std::move(body)) {
    if (!spare_stacks().empty()) {
      stack_ = std::move(spare_stacks().back());
      spare_stacks().pop_back();
    } else {
      stack_.reset(new std::byte[kStackBytes]);
    }
    getcontext(&context_);
    context_.uc_stack.ss_sp = stack_.get();
    context_.uc_stack.ss_size = kStackBytes;
    context_.uc_link = &explorer_;
    const auto self = reinterpret_cast<std::uintptr_t>(this);
    makecontext(&context_, reinterpret_cast<void (*)()>(&Fiber::enter), 2, static_cast<unsigned>(self >> 32),
                static_cast<unsigned>(self));
  }
  ~Fiber() { spare_stacks().push_back(std::move(stack_)); }
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  void resume() { swapcontext(&explorer_, &context_); }
  void suspend() { swapcontext(&context_, &explorer_); }
  bool done() const { return done_; }

 private:
  static void enter(unsigned high, unsigned low) {
    auto* const self = reinterpret_cast<Fiber*>(std::uintptr_t{high} << 32 | low);
    self->body_();
    self->done_ = true;
  }

  std::function<void()> body_;
  std::unique_ptr<std::byte[]> stack_;
  ucontext_t context_{};
  ucontext_t explorer_{};
  bool done_ = false;
};

// The choices of a run, replayed up to the last one, which is changed.
class Explorer {
 public:
  explicit Explorer(const Bounds& bounds) : bounds(bounds), random_(bounds.seed) {}

  Outcome explore(const Scenario& scenario) {
    Outcome outcome;
    do {
      if (outcome.executions == bounds.executions) return outcome;
      if (!run_once(scenario, outcome)) return outcome;
    } while (backtrack());
    outcome.complete = true;
    randomly_ = true;
    for (std::size_t i = 0; i < bounds.random_executions; ++i) {
      if (!run_once(scenario, outcome)) return outcome;
    }
    return outcome;
  }

  std::size_t choose(std::size_t count) {
    if (count <= 1) return 0;
    if (randomly_) return random_() % count;
    if (depth_ == path_.size()) path_.push_back({0, count});
    return path_[depth_++].taken;
  }
  bool bounded() const { return !randomly_; }

  const Bounds bounds;

 private:
  struct Choice {
    std::size_t taken;
    std::size_t count;
  };

  bool run_once(const Scenario& scenario, Outcome& outcome) {
    depth_ = 0;
    ++outcome.executions;
    auto execution = std::make_unique<Execution>(*this);
    running = execution.get();
    scenario(*execution);
    execution->run();
    running = nullptr;
    if (execution->failure_.empty()) return true;
    outcome.failure = execution->failure_;
    outcome.schedule = execution->schedule_;
    abandoned().push_back(execution.release());
    return false;
  }

  // Threads of a failed run stand in the middle of things: nothing of it is destroyed.
  static std::vector<Execution*>& abandoned() {
    static std::vector<Execution*> executions;
    return executions;
  }

  bool backtrack() {
    while (!path_.empty() && path_.back().taken + 1 == path_.back().count) path_.pop_back();
    if (path_.empty()) return false;
    ++path_.back().taken;
    return true;
  }

  std::vector<Choice> path_;
  std::size_t depth_ = 0;
  bool randomly_ = false;
  std::mt19937 random_;
};

void VectorClock::join(const VectorClock& other) {
  for (std::size_t i = 0; i < kMaxThreads; ++i) steps[i] = std::max(steps[i], other.steps[i]);
}

Execution& Execution::current() { return *running; }

Execution::Execution(Explorer& explorer) : explorer_(explorer) { fibers_.push_back(nullptr); }
Execution::~Execution() = default;

void Execution::spawn(std::function<void()> body) {
  if (fibers_.size() == kMaxThreads) std::abort();
  fibers_.push_back(std::make_unique<Fiber>(std::move(body)));
}

void Execution::fail(const std::string& what) {
  failure_ = what;
  if (fibers_[current_] == nullptr) std::abort();  // in the scenario itself, before there are threads
  fibers_[current_]->suspend();                    // for good
  std::abort();
}

// Thread 0 has set everything up; what it did happened before all threads.
void Execution::run() {
  for (std::size_t t = 1; t < fibers_.size(); ++t) clocks_[t] = clocks_[0];
  scheduling_ = true;
  next_ = next_thread();
  while (failure_.empty() && next_ != 0) {
    resume(next_);
    if (failure_.empty() && fibers_[current_]->done()) {
      phases_[current_] = Phase::kDone;
      wake_paused();
      next_ = next_thread();
    }
  }
  scheduling_ = false;
  if (failure_.empty()) run_check();
}

void Execution::run_check() {
  for (std::size_t t = 1; t < fibers_.size(); ++t) clocks_[0].join(clocks_[t]);
  fibers_[0] = std::make_unique<Fiber>([this] { check_and_destroy(); });
  current_ = 0;
  fibers_[0]->resume();
}

// The program's objects are destroyed inside the run as well: their destructors are part of what is tested.
void Execution::check_and_destroy() {
  if (check_) check_();
  check_ = nullptr;
  fibers_.resize(1);
  kept_.clear();
  memory_.clear();
}

void Execution::resume(std::size_t thread) {
  current_ = thread;
  fibers_[thread]->resume();
}

void Execution::suspend() { fibers_[current_]->suspend(); }

void Execution::wake_paused() {
  for (std::size_t t = 1; t < fibers_.size(); ++t) {
    if (t != current_ && phases_[t] == Phase::kPaused) phases_[t] = Phase::kReady;
  }
}

bool Execution::enabled(std::size_t thread) {
  if (phases_[thread] == Phase::kBlocked && conditions_[thread]()) phases_[thread] = Phase::kReady;
  return phases_[thread] == Phase::kReady;
}

std::vector<std::size_t> Execution::others_enabled() {
  std::vector<std::size_t> threads;
  for (std::size_t t = 1; t < fibers_.size(); ++t) {
    if (t != current_ && enabled(t)) threads.push_back(t);
  }
  return threads;
}

void Execution::step() {
  if (++steps_ > kMaxSteps) fail("no progress");
  if (!scheduling_) return;
  wake_paused();
  if (!explorer_.bounded() || preemptions_ < explorer_.bounds.preemptions) {
    const auto others = others_enabled();
    const std::size_t choice = explorer_.choose(others.size() + 1);
    if (choice != 0) {
      ++preemptions_;
      next_ = others[choice - 1];
      suspend();
    }
  }
  schedule_ += static_cast<char>('0' + current_);
}

void Execution::pause() {
  if (!scheduling_) return;
  phases_[current_] = Phase::kPaused;
  hand_over();
}

void Execution::block_until(std::function<bool()> ready) {
  conditions_[current_] = std::move(ready);
  phases_[current_] = Phase::kBlocked;
  hand_over();
}

void Execution::hand_over() {
  const std::size_t self = current_;
  next_ = next_thread();
  if (next_ == self) return;
  suspend();
}

// After a thread gave way or ended: who goes on. 0: all are done, or the run has failed.
std::size_t Execution::next_thread() {
  std::vector<std::size_t> ready;
  for (std::size_t t = 1; t < fibers_.size(); ++t) {
    if (enabled(t)) ready.push_back(t);
  }
  if (ready.empty()) {
    for (std::size_t t = 1; t < fibers_.size(); ++t) {
      if (phases_[t] == Phase::kPaused) ready.push_back(t);
    }
    for (std::size_t t : ready) phases_[t] = Phase::kReady;
  }
  if (!ready.empty()) return ready[explorer_.choose(ready.size())];
  if (const std::string blocked = blocked_threads(); !blocked.empty()) failure_ = "deadlock: asleep are" + blocked;
  return 0;
}

std::string Execution::blocked_threads() const {
  std::string names;
  for (std::size_t t = 1; t < fibers_.size(); ++t) {
    if (phases_[t] == Phase::kBlocked) names += " " + std::to_string(t);
  }
  return names;
}

// Which of the stores that may be read: 0 is the newest.
std::size_t Execution::choose_store(std::size_t candidates) {
  if (!scheduling_ || (explorer_.bounded() && stale_reads_ >= explorer_.bounds.stale_reads)) return 0;
  const std::size_t choice = explorer_.choose(candidates);
  stale_reads_ += choice != 0;
  return choice;
}

Outcome explore(const Bounds& bounds, const Scenario& scenario) { return Explorer(bounds).explore(scenario); }

}  // namespace unjank::model
