// Where a looper sleeps: in a futex, or, while the user listens to file descriptors, in epoll over these and a wake
// handle (an eventfd). Which one, and what a waker has to do about it, is the parking spot's matter.
//
// The eventfd is registered edge-triggered, so a wake-up costs the looper no read: each write is a new edge. Its
// counter only grows; at its end (2^64 - 2 wake-ups) wake() empties it and writes again.
//
// Threads: wake() from any; add, modify and remove from any (the kernel orders them); open, wait and close from the
// looper. close() only when no thread can be in wake(): see deliqueue/quit_gate.h.
// Errors are errno values, 0 is success: this layer neither throws nor prints.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/cache_line.h"
#include "poll/parking_spot.h"
#include "poll/waker.h"

namespace unjank::poll {

enum Readiness : std::uint32_t { kReadable = 1, kWritable = 2, kError = 4, kHangUp = 8 };

struct Event {
  std::uint64_t id;         // as given to add()
  std::uint32_t readiness;  // Readiness bits
};

class Poller final : public Waker {
 public:
  Poller() = default;
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;
  ~Poller() override { close(); }

  int open();
  void close();
  bool is_open() const { return epoll_ >= 0; }

  int wake() noexcept override;

  // Listens to `fd`, level-triggered. `id` comes back in events: choose a new one per call, so that an event that
  // was already on its way for a removed listener can be told apart. kWakeId is taken.
  int add(int fd, std::uint32_t readiness, std::uint64_t id);
  int modify(int fd, std::uint32_t readiness, std::uint64_t id);
  int remove(int fd);

  // Sleeps until something is ready, wake() was called, or `timeout_ns` is over (negative: no limit). Fills events
  // of listeners. A wake-up may be spurious. EINTR is returned: the caller may have signals to handle.
  struct Waited {
    int error = 0;
    std::size_t count = 0;  // events filled
    bool woken = false;     // wake() was called
  };
  Waited wait(std::int64_t timeout_ns, std::span<Event> events);

 private:
  static constexpr std::uint64_t kWakeId = ~std::uint64_t{0};

  int write_wake_handle() noexcept;
  Waited park(std::int64_t timeout_ns);
  Waited poll(std::int64_t timeout_ns, std::span<Event> events);

  int epoll_ = -1;
  int wake_ = -1;
  // `listeners_` - Encodes: descriptors added and not removed. Written by: whoever adds and removes. Relaxed: a sleeper
  // that misses the first one is woken by add(), and sees it then (parking_spot.h).
  std::atomic<int> listeners_{0};
  alignas(kCacheLine) ParkingSpot<> spot_;
};

// What is left from `now` until `deadline`, for wait(): 0 if it has passed, -1 for kForever.
std::int64_t timeout_until(std::int64_t deadline_ns, std::int64_t now_ns);

}  // namespace unjank::poll
