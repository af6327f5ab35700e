// The pace of a CPU.
#include "bench/pace.h"

#include <sched.h>

#include <system_error>

#include "doctest/doctest.h"

namespace unjank::bench {

TEST_CASE("a chain is not left out, and each step depends on the one before") {
  std::uint64_t once = 1;
  chain(once, 1);
  CHECK(once == 6364136223846793005u + 1442695040888963407u);
  std::uint64_t both = 1;
  chain(both, 2);
  chain(once, 1);
  CHECK(both == once);
}

TEST_CASE("a step takes time, and a CPU that does not exist is an error") {
  CHECK(step_ns(sched_getcpu()) > 0);
  CHECK_THROWS_AS(step_ns(1'000), std::system_error);
}

}  // namespace unjank::bench
