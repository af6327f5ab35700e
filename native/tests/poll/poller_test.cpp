// The poller: wake-ups, listeners, deadlines, errors.
#include "poll/poller.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <thread>

#include "base/clock.h"
#include "doctest/doctest.h"

namespace unjank::poll {

namespace {

struct OpenPoller {
  OpenPoller() { REQUIRE(poller.open() == 0); }
  Poller* operator->() { return &poller; }
  Poller poller;
  std::array<Event, 4> events{};
};

struct Sockets {
  Sockets() { REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) == 0); }
  ~Sockets() {
    ::close(fds[0]);
    ::close(fds[1]);
  }
  void send() const { REQUIRE(write(fds[1], "x", 1) == 1); }
  int fds[2];
};

}  // namespace

TEST_CASE("a wake-up before the sleep ends it at once, and only that one") {
  OpenPoller p;
  CHECK(p->wake() == 0);
  CHECK(p->wake() == 0);
  CHECK(p->wait(-1, p.events).woken);
  CHECK_FALSE(p->wait(0, p.events).woken);
  CHECK(p->wake() == 0);
  CHECK(p->wait(-1, p.events).woken);
}

TEST_CASE("a wake-up from another thread ends an unlimited sleep") {
  OpenPoller p;
  std::thread waker([&] { p->wake(); });
  CHECK(p->wait(-1, p.events).woken);
  waker.join();
}

TEST_CASE("a sleep lasts at least its time-out") {
  OpenPoller p;
  const MonotonicClock clock;
  const std::int64_t start = clock.now_ns();
  const Poller::Waited waited = p->wait(1'500'000, p.events);
  CHECK(waited.count == 0);
  CHECK_FALSE(waited.woken);
  CHECK(clock.now_ns() - start >= 1'500'000);
}

TEST_CASE("a listener is reported with its id until the data is read") {
  OpenPoller p;
  const Sockets sockets;
  CHECK(p->add(sockets.fds[0], kReadable, 42) == 0);
  CHECK(p->wait(0, p.events).count == 0);
  sockets.send();
  for (int i = 0; i < 2; ++i) {
    CHECK(p->wait(-1, p.events).count == 1);
    CHECK(p.events[0].id == 42);
    CHECK(p.events[0].readiness == kReadable);
  }
}

TEST_CASE("a listener that is added during the sleep is heard") {
  OpenPoller p;
  const Sockets sockets;
  sockets.send();
  std::thread adder([&] { CHECK(p->add(sockets.fds[0], kReadable, 7) == 0); });
  Poller::Waited waited;
  do waited = p->wait(-1, p.events);
  while (waited.count == 0);
  CHECK(p.events[0].id == 7);
  adder.join();
}

TEST_CASE("beside listeners a wake-up ends the sleep too, and once they are gone") {
  OpenPoller p;
  const Sockets sockets;
  CHECK(p->add(sockets.fds[0], kReadable, 1) == 0);
  p->wait(0, p.events);  // the addition's own wake-up
  for (int i = 0; i < 2; ++i) {
    std::thread waker([&] { CHECK(p->wake() == 0); });
    while (!p->wait(-1, p.events).woken) continue;
    waker.join();
    if (i == 0) CHECK(p->remove(sockets.fds[0]) == 0);
  }
}

TEST_CASE("a sleep beside listeners lasts at least its time-out") {
  OpenPoller p;
  const Sockets sockets;
  const MonotonicClock clock;
  CHECK(p->add(sockets.fds[0], kReadable, 1) == 0);
  p->wait(0, p.events);
  const std::int64_t start = clock.now_ns();
  CHECK_FALSE(p->wait(1'500'000, p.events).woken);
  CHECK(clock.now_ns() - start >= 1'500'000);
}

TEST_CASE("modify changes what is listened for, remove ends it") {
  OpenPoller p;
  const Sockets sockets;
  CHECK(p->add(sockets.fds[0], kReadable, 1) == 0);
  CHECK(p->modify(sockets.fds[0], kReadable | kWritable, 2) == 0);
  CHECK(p->wait(-1, p.events).count == 1);
  CHECK(p.events[0].id == 2);
  CHECK(p.events[0].readiness == kWritable);
  CHECK(p->remove(sockets.fds[0]) == 0);
  CHECK(p->wait(0, p.events).count == 0);
}

TEST_CASE("a closed peer is a hang-up") {
  OpenPoller p;
  int fds[2];
  REQUIRE(pipe2(fds, O_CLOEXEC) == 0);
  CHECK(p->add(fds[0], kReadable, 1) == 0);
  ::close(fds[1]);
  CHECK(p->wait(-1, p.events).count == 1);
  CHECK((p.events[0].readiness & kHangUp) != 0);
  ::close(fds[0]);
}

TEST_CASE("a wake-up does not crowd out a listener, however few events are asked for") {
  OpenPoller p;
  const Sockets sockets;
  std::array<Event, 1> one;
  CHECK(p->add(sockets.fds[0], kReadable, 5) == 0);
  sockets.send();
  CHECK(p->wake() == 0);
  const Poller::Waited waited = p->wait(-1, one);
  CHECK(waited.woken);
  CHECK(waited.count == 1);
}

TEST_CASE("errors are reported, not swallowed") {
  OpenPoller p;
  CHECK(p->add(-1, kReadable, 1) == EBADF);
  CHECK(p->remove(1'000'000) == EBADF);
  CHECK(p->add(0, kReadable, ~std::uint64_t{0}) == EINVAL);
  p->close();
  CHECK(p->wake() == EBADF);
  CHECK(p->wait(0, p.events).error == EBADF);
}

TEST_CASE("a poller opens again after it was closed") {
  OpenPoller p;
  p->close();
  CHECK(p->open() == 0);
  CHECK(p->wake() == 0);
  CHECK(p->wait(-1, p.events).woken);
}

TEST_CASE("the time-out until a deadline is never negative, except for forever") {
  CHECK(timeout_until(100, 40) == 60);
  CHECK(timeout_until(40, 100) == 0);
  CHECK(timeout_until(kForever, 100) == -1);
}

}  // namespace unjank::poll
