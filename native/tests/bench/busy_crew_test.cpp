// Busy threads: they have the priority and the place they were given, and leave nothing behind.
#include "bench/busy_crew.h"

#include <sched.h>
#include <sys/resource.h>

#include <chrono>
#include <system_error>
#include <thread>

#include "doctest/doctest.h"

namespace unjank::bench {

TEST_CASE("each thread works at its nice value, on its CPU, and the one that started them keeps its own") {
  const int here = sched_getcpu();
  const int own_nice = getpriority(PRIO_PROCESS, 0);
  cpu_set_t before;
  cpu_set_t after;
  REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
  BusyCrew crew({{own_nice, here}, {19, here}, {19, -1}});
  crew.start();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const std::vector<BusyReport> reports = crew.stop();
  REQUIRE(reports.size() == 3);
  CHECK(reports[0].nice == own_nice);
  CHECK(reports[1].nice == 19);
  for (const BusyReport& report : {reports[0], reports[1]}) CHECK(report.side.cpus.changes() == 0);
  CHECK(reports[0].side.counters.cpu_ns > 0);
  CHECK(crew.wall_ns() > 0);
  CHECK(getpriority(PRIO_PROCESS, 0) == own_nice);
  REQUIRE(sched_getaffinity(0, sizeof after, &after) == 0);
  CHECK(CPU_EQUAL(&before, &after));
}

TEST_CASE("a crew that never started, or was stopped twice, ends") {
  { const BusyCrew idle({{19, -1}, {19, -1}}); }
  BusyCrew crew({{19, -1}});
  crew.start();
  CHECK(crew.stop().size() == 1);
  const std::int64_t wall = crew.wall_ns();
  CHECK(crew.stop().size() == 1);
  CHECK(crew.wall_ns() == wall);
}

TEST_CASE("a CPU that does not exist is an error, before a thread is started") {
  CHECK_THROWS_AS(BusyCrew({{0, 1'000}}), std::system_error);
}

}  // namespace unjank::bench
