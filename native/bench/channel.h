// Ways in which one thread wakes another: a pipe, an eventfd, a futex. A token of 32 bits goes through, never 0.
//
// Both sides share a channel, as threads or as processes (descriptors are inherited, the futex's word is in shared
// memory). signal() and wait() answer 0 where the kernel refused, with errno; both are fit for a forked child.
#pragma once

#include <linux/futex.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <string_view>
#include <system_error>

#include "base/cache_line.h"

namespace unjank::bench {

using Token = std::uint32_t;
inline constexpr Token kAbort = ~Token{0};  // the other side has given up

// The word of a futex channel; also there, unused, for the others.
struct alignas(kCacheLine) FutexWord {
  std::atomic<Token> value{0};
};

class PipeChannel {
 public:
  static constexpr std::string_view kName = "pipe";

  explicit PipeChannel(FutexWord&) {
    if (::pipe(ends_) != 0) throw std::system_error(errno, std::generic_category(), "opening a pipe");
  }
  PipeChannel(const PipeChannel&) = delete;
  PipeChannel& operator=(const PipeChannel&) = delete;
  ~PipeChannel() {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  bool signal(Token token) noexcept {
    while (::write(ends_[1], &token, sizeof token) != sizeof token) {
      if (errno != EINTR) return false;
    }
    return true;
  }
  Token wait() noexcept {
    Token token = 0;
    while (::read(ends_[0], &token, sizeof token) != sizeof token) {
      if (errno != EINTR) return 0;
    }
    return token;
  }

 private:
  int ends_[2];
};

class EventFdChannel {
 public:
  static constexpr std::string_view kName = "eventfd";

  explicit EventFdChannel(FutexWord&) : fd_(::eventfd(0, EFD_CLOEXEC)) {
    if (fd_ < 0) throw std::system_error(errno, std::generic_category(), "opening an eventfd");
  }
  EventFdChannel(const EventFdChannel&) = delete;
  EventFdChannel& operator=(const EventFdChannel&) = delete;
  ~EventFdChannel() { ::close(fd_); }
  bool signal(Token token) noexcept {
    const std::uint64_t wide = token;
    while (::write(fd_, &wide, sizeof wide) != sizeof wide) {
      if (errno != EINTR) return false;
    }
    return true;
  }
  Token wait() noexcept {
    std::uint64_t wide = 0;
    while (::read(fd_, &wide, sizeof wide) != sizeof wide) {
      if (errno != EINTR) return 0;
    }
    return static_cast<Token>(std::min<std::uint64_t>(wide, kAbort));  // it adds up what was signalled
  }

 private:
  int fd_;
};

// Sleeps whenever the token is not there yet; never spins. Not FUTEX_PRIVATE: the sides may be processes.
class FutexChannel {
 public:
  static constexpr std::string_view kName = "futex";

  explicit FutexChannel(FutexWord& word) : word_(word) {}
  bool signal(Token token) noexcept {
    word_.value.store(token, std::memory_order_release);
    return futex(FUTEX_WAKE, 1) >= 0;
  }
  Token wait() noexcept {
    Token token;
    while ((token = word_.value.load(std::memory_order_acquire)) == 0) {
      if (futex(FUTEX_WAIT, 0) != 0 && errno != EAGAIN && errno != EINTR) return 0;
    }
    word_.value.store(0, std::memory_order_relaxed);  // the other side writes again only after our next signal()
    return token;
  }

 private:
  long futex(int operation, Token value) noexcept {
    return ::syscall(SYS_futex, &word_.value, operation, value, nullptr, nullptr, 0);
  }
  FutexWord& word_;
};

}  // namespace unjank::bench
