// Lets threads walk the stack while the looper unlinks and reuses nodes, without garbage collection.
//
// Two visitor counts, one per parity of an epoch that only the looper advances. A visitor counts itself under the
// epoch it read, then reads the epoch again; if it moved on, the visitor leaves and tries again. The looper moves
// from epoch e to e+1 once no visitor of e-1 is left. Hence, with every unlink written before the advance:
//
//   a node unlinked during epoch e can be reached only by visitors of e-1 and e. When the looper has advanced to
//   e+2 they are all gone, and what they read happened before: the node may be reused.
//
// Nobody waits. A visitor that stands still delays reuse, not the loop. enter() retries only when the looper
// advanced, which needs new unlinked nodes.
// Not for guarding long work: release payloads after leaving.
//
// `epoch` - Written by: looper. seq_cst with `visitors`: either the looper's count sees the visitor, or the visitor
// sees the advance and retries; also publishes the unlinks. Breaks if weakened, or without the second read: a node
// is reused under a visitor (gate_model_test "traverse races unlink").
// `visitors[2]` - Encodes: visitors that entered under that parity. leave() is release, paired with the looper's
// count: the visit happened before the reuse. Breaks if relaxed: same test, reported as a data race.
#pragma once

#include <array>
#include <cstdint>

#include "base/cache_line.h"
#include "deliqueue/orders.h"

namespace unjank::deliqueue {

template <class Policy, class O = Orders>
class TraversalGate {
 public:
  class [[nodiscard]] Visit {
   public:
    explicit Visit(TraversalGate& gate) : gate_(gate), parity_(gate.enter()) {}
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;
    ~Visit() { gate_.leave(parity_); }

   private:
    TraversalGate& gate_;
    const std::size_t parity_;
  };

  // Looper. True: every node unlinked before the last successful advance may be reused.
  bool try_advance() {
    const std::uint64_t epoch = epoch_.load(std::memory_order_relaxed);
    if (visitors_[(epoch + 1) & 1].load(O::kCountVisitors) != 0) return false;
    epoch_.store(epoch + 1, O::kAdvance);
    return true;
  }

 private:
  std::size_t enter() {
    std::uint64_t epoch = epoch_.load(std::memory_order_relaxed);
    for (;;) {
      visitors_[epoch & 1].fetch_add(1, O::kEnter);
      const std::uint64_t confirmed = epoch_.load(O::kConfirmEpoch);
      if (confirmed == epoch || !O::kRecheckEpoch) return epoch & 1;
      leave(epoch & 1);
      epoch = confirmed;
    }
  }
  void leave(std::size_t parity) { visitors_[parity].fetch_sub(1, O::kLeave); }

  alignas(kCacheLine) typename Policy::template Atomic<std::uint64_t> epoch_{0};
  std::array<typename Policy::template Atomic<std::uint64_t>, 2> visitors_{};
};

}  // namespace unjank::deliqueue
