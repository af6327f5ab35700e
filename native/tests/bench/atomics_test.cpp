// Counting at once: nothing is lost, in whatever way and however the counters lie. No claims about speed here.
#include "bench/atomics.h"

#include <sched.h>

#include <stdexcept>
#include <system_error>

#include "doctest/doctest.h"

namespace unjank::bench {

namespace {

constexpr std::int64_t kShort = 1'000'000;

std::uint64_t operations(const Atomics& measured) {
  std::uint64_t all = 0;
  for (const Tally& tally : measured.threads) all += tally.operations;
  return all;
}

}  // namespace

TEST_CASE("every operation is counted, with all instructions, in all layouts, by one thread and by several") {
  for (const Instructions instructions : available_instructions()) {
    for (const Operation operation : {Operation::kLock, Operation::kCasLoop, Operation::kFetchAdd}) {
      for (const Layout layout : {Layout::kShared, Layout::kPacked, Layout::kPadded}) {
        for (const std::vector<int>& cpus : {std::vector{-1}, std::vector{-1, -1, -1}}) {
          CAPTURE(name_of(instructions));
          CAPTURE(name_of(operation));
          CAPTURE(name_of(layout));
          const Atomics measured = count_at_once({operation, layout, instructions, cpus, kShort});
          CHECK(measured.threads.size() == cpus.size());
          CHECK(measured.counted == operations(measured));
          for (const Tally& tally : measured.threads) CHECK(tally.wall_ns > 0);
        }
      }
    }
  }
}

TEST_CASE("threads that are bound are seen where they are bound") {
  const int here = sched_getcpu();
  const Atomics measured =
      count_at_once({Operation::kFetchAdd, Layout::kShared, available_instructions()[0], {here, here}, 20 * kShort});
  for (const Tally& tally : measured.threads) {
    if (tally.operations > 0) CHECK(tally.side.cpus.has(here));
    CHECK(tally.side.cpus.changes() == 0);
  }
}

TEST_CASE("nobody counting, a CPU that does not exist, and instructions of another machine are errors") {
  const Instructions there = available_instructions()[0];
  CHECK_THROWS_AS(count_at_once({Operation::kLock, Layout::kShared, there, {}, kShort}), std::invalid_argument);
  CHECK_THROWS_AS(count_at_once({Operation::kLock, Layout::kShared, there, {1'000}, kShort}), std::system_error);
  const Instructions foreign = there == Instructions::kNative ? Instructions::kLse : Instructions::kNative;
  CHECK_THROWS_AS(count_at_once({Operation::kLock, Layout::kShared, foreign, {-1}, kShort}), std::invalid_argument);
}

}  // namespace unjank::bench
