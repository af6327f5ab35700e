// Ping-pong: every round is timed, and the kernel's counters say where and how it ran. No claims about speed here.
#include "bench/pingpong.h"

#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "bench/counters.h"
#include "bench/pair.h"
#include "doctest/doctest.h"

namespace unjank::bench {

namespace {

constexpr std::size_t kRounds = 300;

std::int64_t switches(const PingPong& measured) {
  const ThreadCounters& caller = measured.caller.counters;
  const ThreadCounters& echo = measured.echo.counters;
  return caller.voluntary + caller.involuntary + echo.voluntary + echo.involuntary;
}

}  // namespace

TEST_CASE("on one CPU every hand-over is a switch, through each medium, as threads and as processes") {
  const int here = sched_getcpu();
  for (const Medium medium : {Medium::kPipe, Medium::kEventFd, Medium::kFutex}) {
    for (const Parties parties : {Parties::kThreads, Parties::kProcesses}) {
      CAPTURE(name_of(medium));
      CAPTURE(name_of(parties));
      const PingPong measured = ping_pong({medium, parties, {here, here}, kRounds, 20});
      CHECK(measured.round_ns.size() == kRounds);
      CHECK(std::all_of(measured.round_ns.begin(), measured.round_ns.end(), [](auto ns) { return ns > 0; }));
      CHECK(measured.wall_ns > 0);
      CHECK(measured.rounds_apart == 0);
      CHECK(switches(measured) >= 2 * std::int64_t{kRounds} - 2);  // the first and the last may be outside
      for (const Side& side : {measured.caller, measured.echo}) {
        CHECK(side.cpus.has(here));
        CHECK(side.cpus.changes() == 0);
        CHECK(side.counters.cpu_ns > 0);
        CHECK(side.counters.migrations <= 0);  // none, or not known
      }
    }
  }
}

TEST_CASE("unpinned sides are on CPUs that were seen") {
  const PingPong measured = ping_pong({Medium::kPipe, Parties::kThreads, {}, kRounds, 0});
  int seen = 0;
  for (int cpu = 0; cpu < CpusSeen::kLimit; ++cpu) seen += measured.caller.cpus.has(cpu);
  CHECK(seen >= 1);
  CHECK(measured.rounds_apart <= kRounds);
}

TEST_CASE("a CPU that does not exist is an error") {
  for (const Parties parties : {Parties::kThreads, Parties::kProcesses}) {
    CHECK_THROWS_AS(ping_pong({Medium::kPipe, parties, {0, 1'000}, 1, 0}), std::system_error);
    CHECK_THROWS_AS(ping_pong({Medium::kPipe, parties, {1'000'000, 0}, 1, 0}), std::system_error);
  }
}

TEST_CASE("the side that failed is the one that is reported, whichever it is") {
  const auto error_of = [](auto&& run, int first, int second) {
    try {
      run([=] { return first; }, [=] { return second; });
    } catch (const std::system_error& error) {
      return error.code().value();
    }
    return 0;
  };
  for (const auto run : {run_as_threads, run_as_processes}) {
    CHECK(error_of(run, 0, 0) == 0);
    CHECK(error_of(run, EPERM, ECANCELED) == EPERM);
    CHECK(error_of(run, ECANCELED, EPERM) == EPERM);
    CHECK(error_of(run, 0, EPERM) == EPERM);
  }
}

TEST_CASE("a process that fails takes the one that waits for it along") {
  const auto waits_for_ever = [] {
    for (;;) pause();
    return 0;
  };
  CHECK_THROWS_AS(run_as_processes(waits_for_ever, [] { return EIO; }), std::system_error);
  CHECK_THROWS_AS(run_as_processes([]() -> int { raise(SIGKILL); return 0; }, waits_for_ever), std::system_error);
}

TEST_CASE("migrations are read where the kernel tells them") {
  CHECK(parse_migrations("cat (1, #threads: 1)\nse.vruntime : 3.5\nse.nr_migrations                  :    42\n") == 42);
  CHECK(parse_migrations("nr_switches : 1\n") == kUnknown);
  CHECK(parse_migrations("se.nr_migrations :") == kUnknown);
  CHECK(parse_migrations("") == kUnknown);
}

TEST_CASE("counters go up by what happened in between, and stay unknown where they are") {
  const ThreadCounters before{5, 6, kUnknown, 100, 7};
  const ThreadCounters after{8, 6, kUnknown, 350, kUnknown};
  const ThreadCounters between = after.since(before);
  CHECK(between.voluntary == 3);
  CHECK(between.involuntary == 0);
  CHECK(between.migrations == kUnknown);
  CHECK(between.cpu_ns == 250);
  CHECK(between.run_wait_ns == kUnknown);
}

}  // namespace unjank::bench
