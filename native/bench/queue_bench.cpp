#include "bench/queue_bench.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <queue>
#include <random>
#include <system_error>
#include <thread>

#include "base/clock.h"
#include "deliqueue/queue.h"
#include "legacy/queue.h"
#include "poll/poller.h"

namespace unjank::bench {

namespace {

using deliqueue::Message;
using deliqueue::Next;

constexpr std::int64_t kHour = 3'600'000'000'000;
const MonotonicClock wall;

[[noreturn]] void fail(int error, const char* what) { throw std::system_error(error, std::generic_category(), what); }

class DeafWaker final : public poll::Waker {
 public:
  int wake() noexcept override { return 0; }
};

// A queue that nobody sleeps on. Its clock stands still, so nothing is due until it is moved.
template <class Q>
struct Bench {
  ManualClock clock{0};
  DeafWaker waker;
  Q queue{waker, clock};

  void fill(std::size_t count, DuePattern pattern);
};

class DueTimes {
 public:
  DueTimes(DuePattern pattern, unsigned seed) : pattern_(pattern), random_(seed) {}
  std::int64_t next() {
    switch (pattern_) {
      case DuePattern::kRandom: return 1 + static_cast<std::int64_t>(random_() % kHour);
      case DuePattern::kIncreasing: return ++last_;
      default: return kHour;
    }
  }

 private:
  DuePattern pattern_;
  std::mt19937_64 random_;
  std::int64_t last_ = kHour;
};

template <class Q>
void Bench<Q>::fill(std::size_t count, DuePattern pattern) {
  std::vector<Message> backlog(count);
  DueTimes times(pattern, 1);
  for (Message& message : backlog) message.when_ns = times.next();
  if constexpr (std::is_same_v<Q, legacy::Queue>) {
    queue.preload(backlog);
  } else {
    for (const Message& message : backlog) queue.post(message);
  }
  queue.next();  // sweeps
}

// Starts all threads at once; wall time until the last is done.
template <class Body>
std::int64_t timed_threads(unsigned count, Body&& body) {
  std::atomic<unsigned> ready{0};
  std::atomic<bool> go{false};
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      ++ready;
      go.wait(false);
      body(i);
    });
  }
  while (ready != count) std::this_thread::yield();
  const std::int64_t start = wall.now_ns();
  go = true;
  go.notify_all();
  for (std::thread& thread : threads) thread.join();
  return wall.now_ns() - start;
}

template <class Q>
double insert_into(const InsertCase& what) {
  Bench<Q> bench;
  bench.fill(what.backlog, what.pattern);
  const std::int64_t ns = timed_threads(what.producers, [&](unsigned producer) {
    DueTimes times(what.pattern, producer + 2);
    for (std::size_t i = 0; i < what.per_producer; ++i) bench.queue.post({.when_ns = times.next()});
  });
  return static_cast<double>(ns) / static_cast<double>(what.producers * what.per_producer);
}

template <class Q>
double dispatch_from(const DispatchCase& what) {
  Bench<Q> bench;
  bench.fill(what.backlog, DuePattern::kRandom);
  std::int64_t ns = 0;
  for (std::size_t i = 0; i < what.messages; ++i) {
    bench.clock.set(bench.queue.next_due());
    const std::int64_t start = wall.now_ns();
    const Next next = bench.queue.next();
    ns += wall.now_ns() - start;
    bench.queue.post({.when_ns = next.message.when_ns + kHour});
  }
  return static_cast<double>(ns) / static_cast<double>(what.messages);
}

// A message of a plain priority queue, as large as a node of ours.
struct alignas(2 * kCacheLine) PlainMessage {
  Message message;
};
struct PlainEntry {
  std::int64_t when;
  std::uint32_t sequence;
  std::uint32_t index;
  bool operator<(const PlainEntry& other) const {
    return when != other.when ? when > other.when : sequence > other.sequence;
  }
};

template <class Q>
double remove_from(const RemoveCase& what) {
  Bench<Q> bench;
  bench.fill(what.backlog, DuePattern::kRandom);
  static const int target = 0;
  const deliqueue::Criteria one{.target = &target};
  DueTimes times(DuePattern::kRandom, 2);
  const std::int64_t start = wall.now_ns();
  for (std::size_t i = 0; i < what.removals; ++i) {
    const auto posted = bench.queue.post({.when_ns = times.next(), .target = &target});
    what.by_handle ? bench.queue.cancel(posted.handle) : bench.queue.remove(one);
    if (i % 256 == 255) bench.queue.next();
  }
  bench.queue.next();
  return static_cast<double>(wall.now_ns() - start) / static_cast<double>(what.removals);
}

// A looper on the calling thread.
template <class Q>
class BenchLooper {
 public:
  BenchLooper() {
    if (const int error = poller_.open()) fail(error, "opening a poller");
  }
  Q queue{poller_, wall};

  // Runs until the queue quits, or `on_message` returns false.
  template <class OnMessage>
  void loop(OnMessage&& on_message) {
    for (Next next = queue.next(); next.kind != Next::Kind::kQuit; next = queue.next()) {
      if (next.kind == Next::Kind::kMessage) {
        if (!on_message(next.message)) return;
      } else if (queue.prepare_sleep()) {
        poller_.wait(-1, {});
        queue.finish_sleep();
      }
    }
  }

 private:
  poll::Poller poller_;
};

template <class Q>
std::vector<std::int64_t> round_trips(std::size_t rounds, Placement placement) {
  BenchLooper<Q> here;
  BenchLooper<Q> there;
  std::vector<std::int64_t> took;
  took.reserve(rounds);
  std::thread echo([&] {
    pin_or_throw(placement.second);
    there.loop([&](const Message&) { return static_cast<bool>(here.queue.post({})); });
  });
  std::thread caller([&] {
    pin_or_throw(placement.first);
    std::int64_t start = wall.now_ns();
    there.queue.post({});
    here.loop([&](const Message&) {
      const std::int64_t now = wall.now_ns();
      took.push_back(now - start);
      if (took.size() == rounds) return false;
      start = now;
      there.queue.post({});
      return true;
    });
  });
  caller.join();
  there.queue.quit(deliqueue::QuitMode::kDrop);
  echo.join();
  return took;
}

class EventFd {
 public:
  EventFd() : fd_(eventfd(0, EFD_CLOEXEC)) {
    if (fd_ < 0) fail(errno, "eventfd");
  }
  EventFd(const EventFd&) = delete;
  EventFd& operator=(const EventFd&) = delete;
  ~EventFd() { ::close(fd_); }
  void signal() const {
    const std::uint64_t one = 1;
    if (write(fd_, &one, sizeof one) != sizeof one) fail(errno, "writing an eventfd");
  }
  void wait() const {
    std::uint64_t count;
    if (read(fd_, &count, sizeof count) != sizeof count) fail(errno, "reading an eventfd");
  }

 private:
  int fd_;
};

template <template <class> class Measure, class Case>
double choose(const Case& what) {
  return what.queue == QueueKind::kDeliqueue ? Measure<deliqueue::MessageQueue>::run(what)
                                             : Measure<legacy::Queue>::run(what);
}
template <class Q>
struct Insert {
  static double run(const InsertCase& what) { return insert_into<Q>(what); }
};
template <class Q>
struct Dispatch {
  static double run(const DispatchCase& what) { return dispatch_from<Q>(what); }
};
template <class Q>
struct Remove {
  static double run(const RemoveCase& what) { return remove_from<Q>(what); }
};

}  // namespace

double insert_ns(const InsertCase& what) { return choose<Insert>(what); }
double dispatch_ns(const DispatchCase& what) { return choose<Dispatch>(what); }
double plain_dispatch_ns(std::size_t backlog, std::size_t messages) {
  std::vector<PlainMessage> all(backlog);
  std::priority_queue<PlainEntry> queue;
  DueTimes times(DuePattern::kRandom, 1);
  std::uint32_t sequence = 0;
  for (std::uint32_t i = 0; i < backlog; ++i) queue.push({all[i].message.when_ns = times.next(), ++sequence, i});
  std::int64_t ns = 0;
  for (std::size_t i = 0; i < messages; ++i) {
    const std::int64_t start = wall.now_ns();
    const PlainEntry entry = queue.top();
    queue.pop();
    const Message taken = std::exchange(all[entry.index].message, {});
    ns += wall.now_ns() - start;
    all[entry.index].message.when_ns = taken.when_ns + kHour;
    queue.push({taken.when_ns + kHour, ++sequence, entry.index});
  }
  return static_cast<double>(ns) / static_cast<double>(messages);
}
double remove_ns(const RemoveCase& what) { return choose<Remove>(what); }

std::vector<std::int64_t> looper_round_trips(QueueKind queue, std::size_t rounds, Placement placement) {
  require_allowed(placement);
  return queue == QueueKind::kDeliqueue ? round_trips<deliqueue::MessageQueue>(rounds, placement)
                                        : round_trips<legacy::Queue>(rounds, placement);
}

std::vector<std::int64_t> eventfd_round_trips(std::size_t rounds, Placement placement) {
  require_allowed(placement);
  const EventFd there;
  const EventFd here;
  std::vector<std::int64_t> took(rounds);
  std::thread echo([&] {
    pin_or_throw(placement.second);
    for (std::size_t i = 0; i < rounds; ++i) {
      there.wait();
      here.signal();
    }
  });
  std::thread caller([&] {
    pin_or_throw(placement.first);
    std::int64_t start = wall.now_ns();
    for (std::int64_t& ns : took) {
      there.signal();
      here.wait();
      const std::int64_t now = wall.now_ns();
      ns = now - start;
      start = now;
    }
  });
  caller.join();
  echo.join();
  return took;
}

std::string_view name_of(QueueKind queue) { return queue == QueueKind::kDeliqueue ? "deliqueue" : "legacy"; }

std::string_view name_of(DuePattern pattern) {
  switch (pattern) {
    case DuePattern::kRandom: return "random";
    case DuePattern::kIncreasing: return "increasing";
    default: return "equal";
  }
}

}  // namespace unjank::bench
