// Where unlinked nodes wait until no visitor can stand on them. Looper only.
#pragma once

#include "deliqueue/free_list.h"
#include "deliqueue/traversal_gate.h"

namespace unjank::deliqueue {

template <class Policy, class Pool, class O = Orders>
class Limbo {
 public:
  using NodeType = Node<Policy, O>;

  explicit Limbo(TraversalGate<Policy, O>& gate) : gate_(gate) {}
  Limbo(const Limbo&) = delete;
  Limbo& operator=(const Limbo&) = delete;
  // Nobody visits a queue that is being destroyed.
  ~Limbo() {
    Pool::give_back(previous_);
    Pool::give_back(current_.first);
  }

  void retire(NodeType* node) {
    if constexpr (!O::kDeferReuse) {
      node->free_next.set(nullptr);
      Pool::give_back(node);
      return;
    }
    current_.add(node);
    if (current_.count >= kBatch) collect();
  }

  // Moves on one epoch if the visitors allow it: what was retired in the epoch before goes back to the pool.
  void collect() {
    if (previous_ == nullptr && current_.first == nullptr) return;
    if (!gate_.try_advance()) return;
    Pool::give_back(previous_);
    previous_ = current_.first;
    current_ = {};
  }

 private:
  static constexpr std::uint32_t kBatch = 64;  // an advance costs one fence: spread it

  TraversalGate<Policy, O>& gate_;
  Chain<NodeType> current_;       // unlinked in this epoch
  NodeType* previous_ = nullptr;  // unlinked in the one before
};

}  // namespace unjank::deliqueue
