// Guards the wake handle: a reference count with a quit bit in one word.
//
// Producers enter only to write the handle, so posts that need no wake-up never touch this line. Only the quitting
// looper waits, for writers that are inside at that moment (one system call each); producers never wait.
//
// `state` - Encodes: bit 0 closed, the rest twice the number of writers inside. Written by: producers (enter, leave),
// looper (close). An enter() that saw bit 0 clear precedes close() in the word's modification order, so close()
// counts it: relaxed is enough to enter. leave() is release, paired with close()'s acquire: the write to the handle
// happened before it is closed. Breaks if weakened, or without the wait: a write to a closed (or reused)
// descriptor (quit_model_test "wake races close").
#pragma once

#include <cstdint>

#include "base/cache_line.h"
#include "deliqueue/orders.h"

namespace unjank::deliqueue {

template <class Policy, class O = Orders>
class QuitGate {
 public:
  // False: closed, the handle must not be touched. After true, leave() must follow.
  bool enter() {
    if ((state_.fetch_add(kWriter, std::memory_order_relaxed) & kClosed) == 0) return true;
    leave();
    return false;
  }

  void leave() { state_.fetch_sub(kWriter, O::kLeaveHandle); }

  // Looper. After it nobody is inside and nobody will be.
  void close() {
    std::uint64_t state = state_.fetch_or(kClosed, O::kAwaitLeavers);
    while (O::kCloseAwaitsLeavers && state >= kWriter) {
      Policy::pause();
      state = state_.load(O::kAwaitLeavers);
      if (state < kWriter) return;
    }
  }

 private:
  static constexpr std::uint64_t kClosed = 1;
  static constexpr std::uint64_t kWriter = 2;

  alignas(kCacheLine) typename Policy::template Atomic<std::uint64_t> state_{0};
};

}  // namespace unjank::deliqueue
