#include "bench/pace.h"

#include <algorithm>
#include <limits>

#include "base/clock.h"
#include "bench/placement.h"
#include "bench/thread_group.h"

namespace unjank::bench {

namespace {

constexpr unsigned kSteps = 10'000;                // of a sample, some ten microseconds
constexpr std::int64_t kWarmUpNs = 3'000'000;      // for the clock to rise
constexpr std::int64_t kMeasureNs = 1'000'000;
const MonotonicClock wall;

double shortest(std::int64_t until_ns) {
  std::uint64_t state = 1;
  double best = std::numeric_limits<double>::max();
  for (std::int64_t start = wall.now_ns(); start < until_ns;) {
    chain(state, kSteps);
    const std::int64_t now = wall.now_ns();
    best = std::min(best, static_cast<double>(now - start) / kSteps);
    start = now;
  }
  return best;
}

}  // namespace

double step_ns(int cpu) {
  require_allowed(cpu);
  double found = 0;
  ThreadGroup one(1, [&](std::size_t) {
    pin(cpu);
    shortest(wall.now_ns() + kWarmUpNs);
    found = std::min(shortest(wall.now_ns() + kMeasureNs), shortest(wall.now_ns() + kMeasureNs));
  });
  one.release();
  one.join();
  return found;
}

}  // namespace unjank::bench
