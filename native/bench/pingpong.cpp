#include "bench/pingpong.h"

#include <sys/mman.h>

#include <new>
#include <system_error>

#include "base/clock.h"
#include "bench/channel.h"
#include "bench/pair.h"

namespace unjank::bench {

namespace {

const MonotonicClock wall;

constexpr Token token_of(int cpu) { return static_cast<Token>(cpu + 2); }  // never 0, also if the CPU is unknown

// What both sides write, in memory that they share also as processes. Each member has one writer.
struct Shared {
  FutexWord there;  // the channels
  FutexWord back;
  alignas(kCacheLine) Side caller;  // the caller, as all below
  std::int64_t wall_ns = 0;
  std::size_t rounds_apart = 0;
  alignas(kCacheLine) Side echo;  // the echo
};

// Shared, followed by the time of each round. Zero pages: what is written for the first time is written while warming up.
class SharedMemory {
 public:
  explicit SharedMemory(std::size_t rounds) : size_(sizeof(Shared) + rounds * sizeof(std::int64_t)) {
    constexpr int kProtection = PROT_READ | PROT_WRITE;
    constexpr int kFlags = MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE;
    at_ = ::mmap(nullptr, size_, kProtection, kFlags, -1, 0);
    if (at_ == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mapping shared memory");
    new (at_) Shared;
  }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory() { ::munmap(at_, size_); }
  Shared& shared() { return *static_cast<Shared*>(at_); }
  std::int64_t* round_ns() { return reinterpret_cast<std::int64_t*>(&shared() + 1); }

 private:
  std::size_t size_;
  void* at_;
};

// The side that starts each round and times it. run() answers 0 or an errno, and does not throw: it may be in a child.
template <class Channel>
class Caller {
 public:
  Caller(const PingPongCase& what, SharedMemory& memory, Channel& there, Channel& back)
      : what_(what), shared_(memory.shared()), round_ns_(memory.round_ns()), there_(there), back_(back) {}

  int run() noexcept {
    const int error = work();
    if (error != 0) there_.signal(kAbort);  // the other side must not wait for ever
    return error;
  }

 private:
  int work() noexcept {
    if (const int error = pin(what_.placement.first)) return error;
    for (std::size_t i = 0; i < what_.warm_up; ++i) {
      if (!exchange()) return errno;
    }
    const ThreadCounters before = own_counters();
    if (!exchange()) return errno;  // after it the other side has read its counters as well
    if (const int error = timed_rounds()) return error;
    shared_.caller.counters = own_counters().since(before);
    return 0;
  }
  int timed_rounds() noexcept {
    Side& own = shared_.caller;
    int cpu = own.cpus.note_own();
    const std::int64_t begin = wall.now_ns();
    std::int64_t start = begin;
    for (std::size_t i = 0; i < what_.rounds; ++i) {
      const Token theirs = exchange(token_of(cpu));
      if (theirs == 0) return errno;
      cpu = own.cpus.note_own();
      shared_.rounds_apart += theirs != token_of(cpu);
      const std::int64_t now = wall.now_ns();
      round_ns_[i] = now - start;
      start = now;
    }
    shared_.wall_ns = start - begin;
    return 0;
  }
  // The other side's answer; 0 if there is none.
  Token exchange(Token token = token_of(0)) noexcept {
    const Token answer = there_.signal(token) ? back_.wait() : 0;
    if (answer == kAbort) errno = ECANCELED;
    return answer == kAbort ? 0 : answer;
  }

  const PingPongCase& what_;
  Shared& shared_;
  std::int64_t* round_ns_;
  Channel& there_;
  Channel& back_;
};

// The side that answers. Its tokens tell the CPU it is on.
template <class Channel>
class Echo {
 public:
  Echo(const PingPongCase& what, SharedMemory& memory, Channel& there, Channel& back)
      : what_(what), own_(memory.shared().echo), there_(there), back_(back) {}

  int run() noexcept {
    const int error = work();
    if (error != 0) back_.signal(kAbort);
    return error;
  }

 private:
  int work() noexcept {
    if (const int error = pin(what_.placement.second)) return error;
    CpusSeen unused;
    for (std::size_t i = 0; i < what_.warm_up; ++i) {
      if (!answer(unused)) return errno;
    }
    const ThreadCounters before = own_counters();
    if (!answer(unused)) return errno;
    for (std::size_t i = 0; i < what_.rounds; ++i) {
      if (!answer(own_.cpus)) return errno;
    }
    own_.counters = own_counters().since(before);
    return 0;
  }
  bool answer(CpusSeen& cpus) noexcept {
    const Token token = there_.wait();
    if (token == kAbort) errno = ECANCELED;
    return token != 0 && token != kAbort && back_.signal(token_of(cpus.note_own()));
  }

  const PingPongCase& what_;
  Side& own_;
  Channel& there_;
  Channel& back_;
};

template <class Channel>
PingPong run(const PingPongCase& what) {
  SharedMemory memory(what.rounds);
  Shared& shared = memory.shared();
  Channel there(shared.there);
  Channel back(shared.back);
  Caller<Channel> caller(what, memory, there, back);
  Echo<Channel> echo(what, memory, there, back);
  const auto first = [&]() noexcept { return caller.run(); };
  const auto second = [&]() noexcept { return echo.run(); };
  what.parties == Parties::kThreads ? run_as_threads(first, second) : run_as_processes(first, second);
  return {shared.wall_ns,
          {memory.round_ns(), memory.round_ns() + what.rounds},
          shared.rounds_apart,
          shared.caller,
          shared.echo};
}

}  // namespace

PingPong ping_pong(const PingPongCase& what) {
  require_allowed(what.placement);
  switch (what.medium) {
    case Medium::kPipe: return run<PipeChannel>(what);
    case Medium::kEventFd: return run<EventFdChannel>(what);
    default: return run<FutexChannel>(what);
  }
}

std::string_view name_of(Medium medium) {
  switch (medium) {
    case Medium::kPipe: return PipeChannel::kName;
    case Medium::kEventFd: return EventFdChannel::kName;
    default: return FutexChannel::kName;
  }
}

std::string_view name_of(Parties parties) { return parties == Parties::kThreads ? "threads" : "processes"; }

}  // namespace unjank::bench
