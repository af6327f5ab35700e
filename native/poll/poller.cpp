#include "poll/poller.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <utility>

#include "base/clock.h"

namespace unjank::poll {

namespace {

constexpr int kBatch = 64;

int errno_unless(bool success) { return success ? 0 : errno; }

std::uint32_t to_epoll(std::uint32_t readiness) {
  return (readiness & kReadable ? std::uint32_t{EPOLLIN} : 0) | (readiness & kWritable ? std::uint32_t{EPOLLOUT} : 0);
}

std::uint32_t from_epoll(std::uint32_t events) {
  return (events & EPOLLIN ? kReadable : 0u) | (events & EPOLLOUT ? kWritable : 0u) |
         (events & EPOLLERR ? kError : 0u) | (events & (EPOLLHUP | EPOLLRDHUP) ? kHangUp : 0u);
}

int control(int epoll, int operation, int fd, std::uint32_t events, std::uint64_t id) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = id;
  return errno_unless(epoll_ctl(epoll, operation, fd, &event) == 0);
}

// Milliseconds, rounded up: never early.
int to_milliseconds(std::int64_t timeout_ns) {
  if (timeout_ns < 0) return -1;
  return static_cast<int>(std::min<std::int64_t>((timeout_ns + 999'999) / 1'000'000, INT_MAX));
}

// epoll_pwait2 counts in nanoseconds; kernels before 5.11 and some sandboxes do not have it.
int wait_for_events(int epoll, epoll_event* events, int capacity, std::int64_t timeout_ns) {
#ifdef SYS_epoll_pwait2
  static std::atomic<bool> missing{false};  // written once; a late reader tries once more
  if (timeout_ns > 0 && !missing.load(std::memory_order_relaxed)) {
    const timespec timeout{timeout_ns / 1'000'000'000, static_cast<long>(timeout_ns % 1'000'000'000)};
    const long count = syscall(SYS_epoll_pwait2, epoll, events, capacity, &timeout, nullptr, std::size_t{0});
    if (count >= 0 || (errno != ENOSYS && errno != EPERM)) return static_cast<int>(count);
    missing.store(true, std::memory_order_relaxed);
  }
#endif
  return epoll_wait(epoll, events, capacity, to_milliseconds(timeout_ns));
}

}  // namespace

int Poller::open() {
  if (is_open()) return 0;
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  if (epoll_ < 0) return errno;
  wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  const int error = wake_ < 0 ? errno : control(epoll_, EPOLL_CTL_ADD, wake_, EPOLLIN | EPOLLET, kWakeId);
  if (error != 0) close();
  return error;
}

void Poller::close() {
  for (int* fd : {&wake_, &epoll_}) {
    if (*fd >= 0) ::close(std::exchange(*fd, -1));
  }
}

int Poller::wake() noexcept {
  if (!is_open()) return EBADF;
  if (!spot_.signal()) return 0;
  const int error = write_wake_handle();
  if (error != 0) spot_.give_up();
  return error;
}

int Poller::write_wake_handle() noexcept {
  const std::uint64_t one = 1;
  for (;;) {
    if (write(wake_, &one, sizeof one) == sizeof one) return 0;
    if (errno == EAGAIN) {
      std::uint64_t full;
      if (read(wake_, &full, sizeof full) < 0 && errno != EAGAIN && errno != EINTR) return errno;
    } else if (errno != EINTR) {
      return errno;
    }
  }
}

int Poller::add(int fd, std::uint32_t readiness, std::uint64_t id) {
  if (id == kWakeId) return EINVAL;
  const int error = control(epoll_, EPOLL_CTL_ADD, fd, to_epoll(readiness), id);
  if (error != 0) return error;
  listeners_.fetch_add(1, std::memory_order_relaxed);
  return wake();  // it may be asleep elsewhere
}

int Poller::modify(int fd, std::uint32_t readiness, std::uint64_t id) {
  if (id == kWakeId) return EINVAL;
  return control(epoll_, EPOLL_CTL_MOD, fd, to_epoll(readiness), id);
}

int Poller::remove(int fd) {
  const int error = control(epoll_, EPOLL_CTL_DEL, fd, 0, 0);
  if (error == 0) listeners_.fetch_sub(1, std::memory_order_relaxed);
  return error;
}

Poller::Waited Poller::wait(std::int64_t timeout_ns, std::span<Event> events) {
  if (!is_open()) return {.error = EBADF};
  if (listeners_.load(std::memory_order_relaxed) == 0) return park(timeout_ns);
  const bool asleep = spot_.lie_down(ParkingSpot<>::kPolling);
  Waited waited = poll(asleep ? timeout_ns : 0, events);
  waited.woken = !asleep || spot_.get_up();
  return waited;
}

Poller::Waited Poller::park(std::int64_t timeout_ns) {
  if (!spot_.lie_down(ParkingSpot<>::kParked)) return {.woken = true};
  WaitEnd end = WaitEnd::kTimedOut;
  if (timeout_ns < 0) {
    end = spot_.sleep_parked(kNoDeadline);
  } else if (timeout_ns > 0) {
    end = spot_.sleep_parked(deadline_after(MonotonicClock().now_ns(), timeout_ns));
  }
  const bool woken = spot_.get_up();
  return {.error = end == WaitEnd::kInterrupted && !woken ? EINTR : 0, .woken = woken};
}

Poller::Waited Poller::poll(std::int64_t timeout_ns, std::span<Event> events) {
  std::array<epoll_event, kBatch> ready;
  // One more than asked for: the wake handle must not crowd a listener out.
  const int capacity = static_cast<int>(std::min<std::size_t>(events.size() + 1, ready.size()));
  const int count = wait_for_events(epoll_, ready.data(), capacity, timeout_ns);
  if (count < 0) return {.error = errno};
  Waited waited;
  for (int i = 0; i < count; ++i) {
    if (ready[i].data.u64 != kWakeId && waited.count < events.size()) {
      events[waited.count++] = {ready[i].data.u64, from_epoll(ready[i].events)};
    }  // else: the wake handle, or level-triggered: the next wait() reports it
  }
  return waited;
}

std::int64_t timeout_until(std::int64_t deadline_ns, std::int64_t now_ns) {
  if (deadline_ns >= kForever) return -1;
  return std::max<std::int64_t>(deadline_ns - now_ns, 0);
}

}  // namespace unjank::poll
