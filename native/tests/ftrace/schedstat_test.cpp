#include "base/schedstat.h"

#include <doctest/doctest.h>
#include <sys/syscall.h>

#include <cerrno>
#include <thread>

using unjank::parse_schedstat;
using unjank::read_schedstat;

namespace {

int own_tid() { return static_cast<int>(::syscall(SYS_gettid)); }

}  // namespace

TEST_CASE("the first two numbers are run and wait time") {
  const auto stat = parse_schedstat("123456789 42 7\n");
  REQUIRE(stat);
  CHECK(stat->run_ns == 123456789);
  CHECK(stat->wait_ns == 42);
}

TEST_CASE("text that is not a schedstat gives nothing") {
  for (const char* text : {"", "12", "12 ", "a b c", "-1 2 3", "99999999999999999999 1 1"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_schedstat(text));
  }
}

TEST_CASE("a thread that works is seen to have run, by tid alone and by pid and tid") {
  const auto before = read_schedstat(own_tid());
  REQUIRE(before);
  // Until the kernel has accounted for some of it: it does so at the latest with the next tick.
  auto after = before;
  while (after && after->run_ns == before->run_ns) after = read_schedstat(own_tid(), ::getpid());
  REQUIRE(after);
  CHECK(after->run_ns > before->run_ns);
}

TEST_CASE("a thread that is gone gives nothing and leaves errno alone") {
  int tid = 0;
  std::thread([&tid] { tid = own_tid(); }).join();
  errno = EBUSY;
  // The kernel may take a moment to reap a thread that was joined.
  while (read_schedstat(tid)) std::this_thread::yield();
  CHECK(errno == EBUSY);
}
