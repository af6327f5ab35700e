// Core to core: every exchange is counted, and two threads that never run at once are given up. No claims about speed.
#include "bench/core_pair.h"

#include <sched.h>

#include <system_error>
#include <vector>

#include "doctest/doctest.h"

namespace unjank::bench {

namespace {

std::vector<int> allowed_cpus() {
  cpu_set_t allowed;
  REQUIRE(sched_getaffinity(0, sizeof allowed, &allowed) == 0);
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &allowed)) cpus.push_back(cpu);
  }
  return cpus;
}

}  // namespace

TEST_CASE("two CPUs exchange a line as often as asked, whoever touched its page first") {
  const std::vector<int> cpus = allowed_cpus();
  if (cpus.size() < 2) {
    MESSAGE("not run: needs two CPUs");
    return;
  }
  for (const int home : {cpus[0], cpus[1]}) {
    CorePairCase what{cpus[0], cpus[1], home, 50, 3};
    what.patience_ns = 60'000'000'000;
    const CorePair measured = core_pair(what);
    CHECK(measured.exchanges == measured.exchanges_wanted);
    CHECK(measured.exchanges_wanted == 2 * (100 + 3 * 50));
    REQUIRE(measured.one_way_ns.size() == 3);
    for (const double ns : measured.one_way_ns) CHECK(ns > 0);
    CHECK(measured.first.cpus.has(cpus[0]));
    CHECK(measured.second.cpus.has(cpus[1]));
    CHECK(measured.first.cpus.changes() == 0);
  }
}

TEST_CASE("without patience the exchanges that are missing show") {
  const int here = allowed_cpus()[0];
  CorePairCase what{here, here, here, 1'000'000, 1};
  what.patience_ns = 1;
  const CorePair measured = core_pair(what);
  CHECK(measured.exchanges < measured.exchanges_wanted);
  CHECK(measured.one_way_ns.empty());
}

TEST_CASE("a CPU that does not exist is an error") {
  const int here = allowed_cpus()[0];
  CHECK_THROWS_AS(core_pair({1'000, here, here}), std::system_error);
  CHECK_THROWS_AS(core_pair({here, 1'000, here}), std::system_error);
  CHECK_THROWS_AS(core_pair({here, here, 1'000}), std::system_error);
}

}  // namespace unjank::bench
