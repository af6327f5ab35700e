#include "bench/busy_crew.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "base/clock.h"
#include "base/signals_blocked.h"
#include "bench/pace.h"
#include "bench/placement.h"

namespace unjank::bench {

namespace {

constexpr unsigned kSteps = 10'000;  // of work between two looks at the phase, some microseconds
const MonotonicClock wall;

id_t own_tid() noexcept { return static_cast<id_t>(::syscall(SYS_gettid)); }

}  // namespace

BusyCrew::BusyCrew(const std::vector<BusyThread>& threads) : BusyCrew() {
  for (const BusyThread& thread : threads) require_allowed(thread.cpu);
  const SignalsBlocked blocked;
  for (const BusyThread& what : threads) {
    members_.push_back(std::make_unique<Member>(Member{what, {}, 0, {}}));
    Member& member = *members_.back();
    member.thread = std::thread([this, &member] { live(member); });
  }
  for (std::size_t n = 0; (n = prepared_.load()) != members_.size();) prepared_.wait(n);
  for (const auto& member : members_) {
    if (const int error = member->error) {
      const std::string what = "setting nice " + std::to_string(member->what.nice);
      throw std::system_error(error, std::generic_category(), what);
    }
  }
}

BusyCrew::~BusyCrew() { end(); }

void BusyCrew::start() {
  wall_ns_ = wall.now_ns();
  move_to(kWork);
}

std::vector<BusyReport> BusyCrew::stop() {
  const bool working = phase_.load() == kWork;
  move_to(kEnd);
  if (working) wall_ns_ = wall.now_ns() - wall_ns_;  // after it: never shorter than they worked
  end();
  std::vector<BusyReport> reports;
  for (const auto& member : members_) reports.push_back(member->report);
  return reports;
}

int BusyCrew::prepare(const BusyThread& what) noexcept {
  if (const int error = pin(what.cpu)) return error;
  return ::setpriority(PRIO_PROCESS, own_tid(), what.nice) == 0 ? 0 : errno;
}

void BusyCrew::live(Member& member) noexcept {
  member.error = prepare(member.what);
  prepared_.fetch_add(1);
  prepared_.notify_one();
  phase_.wait(kWait);
  Side& side = member.report.side;
  const ThreadCounters before = own_counters();
  std::uint64_t state = own_tid();
  while (phase_.load(std::memory_order_relaxed) == kWork) {
    chain(state, kSteps);
    side.cpus.note_own();
  }
  side.counters = own_counters().since(before);
  member.report.nice = ::getpriority(PRIO_PROCESS, own_tid());
}

void BusyCrew::move_to(Phase phase) noexcept {
  phase_ = phase;
  phase_.notify_all();
}

void BusyCrew::end() noexcept {
  move_to(kEnd);
  for (const auto& member : members_) {
    if (member->thread.joinable()) member->thread.join();
  }
}

}  // namespace unjank::bench
