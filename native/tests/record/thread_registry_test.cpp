// Who is who: numbers, names, threads that are gone, and what a forked child knows.
#include "record/thread_registry.h"

#include <doctest/doctest.h>
#include <sched.h>
#include <sys/resource.h>

#include <set>
#include <thread>

#include "tests/record/temporary.h"

namespace unjank::record {

namespace {

/// A log of a thread that has ended.
std::shared_ptr<ThreadLog> attached_elsewhere(ThreadRegistry& registry) {
  std::shared_ptr<ThreadLog> log;
  std::thread([&] { log = registry.attach(); }).join();
  return log;
}

}  // namespace

TEST_CASE("the main thread has its name, another one its id, until they are renamed") {
  ThreadRegistry registry;
  const auto main = registry.attach();
  const auto other = attached_elsewhere(registry);
  CHECK(registry.identify(main->number).name == "MainThread");
  CHECK(registry.identify(other->number).name == "thread-" + std::to_string(other->tid.load()));
  registry.rename(*other, "worker");
  CHECK(registry.identify(other->number).name == "worker");
  CHECK(registry.identify(other->number).tid == other->tid.load());
}

TEST_CASE("a renaming is told once and changes the version") {
  ThreadRegistry registry;
  const auto log = registry.attach();
  CHECK(registry.take_name(*log) == std::pair(std::string("MainThread"), true));
  CHECK_FALSE(registry.take_name(*log).second);
  const std::uint64_t before = registry.names_version();
  registry.rename(*log, "main");
  CHECK(registry.names_version() != before);
  CHECK(registry.take_name(*log) == std::pair(std::string("main"), true));
}

TEST_CASE("renaming by kernel id reaches the living thread, not one that had the id before") {
  ThreadRegistry registry;
  const auto gone = registry.attach();
  gone->exited = true;
  const auto now = registry.attach();  // the same kernel thread, so the same id
  registry.rename(static_cast<pid_t>(gettid()), "new");
  CHECK(registry.identify(now->number).name == "new");
  CHECK(registry.identify(gone->number).name == "MainThread");
  CHECK(registry.number_of(static_cast<pid_t>(gettid())) == now->number);
  CHECK(registry.number_of(-1) == 0);
  registry.rename(pid_t{-1}, "nobody");
}

TEST_CASE("numbers are never used twice, not even after their thread is forgotten") {
  ThreadRegistry registry;
  std::set<std::uint32_t> numbers;
  for (int i = 0; i < 1'000; ++i) {
    const auto log = registry.attach();
    CHECK(numbers.insert(log->number).second);
    registry.forget(*log);
  }
  CHECK(numbers.count(0) == 0);
  CHECK(registry.live().empty());
}

TEST_CASE("a forgotten thread is still known by name for a while, then unknown") {
  ThreadRegistry registry;
  const auto first = registry.attach();
  registry.rename(*first, "first");
  registry.forget(*first);
  CHECK(registry.identify(first->number).name == "first");
  CHECK_FALSE(registry.tid_of(first->number).has_value());
  for (int i = 0; i < 5'000; ++i) registry.forget(*registry.attach());
  CHECK(registry.identify(first->number).name == "unknown");
}

TEST_CASE("nice value and CPU list are the kernel's") {
  cpu_set_t before;
  sched_getaffinity(0, sizeof before, &before);
  std::thread([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    int cpu = 0;
    while (!CPU_ISSET(cpu, &before)) ++cpu;
    CPU_SET(cpu, &one);
    REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
    REQUIRE(setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), 7) == 0);
    SchedFacts facts;
    REQUIRE(read_sched_facts(0, facts));
    CHECK(facts == SchedFacts{7, std::to_string(cpu)});
  }).join();
  SchedFacts facts;
  CHECK_FALSE(read_sched_facts(-1, facts));
}

TEST_CASE("a forked child knows only the thread that forked, under its new id, with an empty ring") {
  ThreadRegistry registry;
  const auto other = attached_elsewhere(registry);
  const auto mine = registry.attach();
  mine->own_ring().push_begin({});
  registry.before_fork();
  const pid_t child = test::in_child([&] {
    registry.after_fork_in_child();
    const bool alone = registry.live().size() == 1 && registry.live()[0] == mine;
    const bool new_id = mine->tid.load() == static_cast<pid_t>(gettid());
    return alone && new_id && mine->own_ring().size() == 0 ? 0 : 1;
  });
  registry.after_fork_in_parent();
  CHECK(test::status_of(child) == 0);
  CHECK(registry.live().size() == 2);
  CHECK(mine->own_ring().size() == 1);
}

}  // namespace unjank::record
