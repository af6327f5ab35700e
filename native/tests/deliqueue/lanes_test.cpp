// The order the looper hands messages out in, and what happens when the sequence numbers run out.
#include <memory>
#include <vector>

#include "deliqueue/lanes.h"
#include "doctest/doctest.h"

namespace unjank::deliqueue {

namespace {

class Admitted {
 public:
  explicit Admitted(std::int32_t next_sequence) : lanes(next_sequence) {}

  // `name` comes back from drain().
  void admit(std::int64_t when, std::int64_t name, std::uint8_t flags = 0) {
    nodes_.push_back(std::make_unique<ShippedNode>());
    nodes_.back()->fill({.when_ns = when, .what = name, .flags = flags}, Kind::kMessage, when);
    lanes.begin_admitting();
    lanes.admit(nodes_.back().get());
    lanes.settle();
  }

  std::vector<std::int64_t> drain() {
    std::vector<std::int64_t> names;
    while (const HeapEntry* head = lanes.head()) {
      ShippedNode* const node = lanes.node_of(*head);
      names.push_back(node->match_what());
      lanes.erase(node);
    }
    return names;
  }

  Lanes<ShippedNode> lanes;

 private:
  std::vector<std::unique_ptr<ShippedNode>> nodes_;
};

}  // namespace

TEST_CASE("equal due times keep their push order when the sequence numbers start again") {
  Admitted queue(INT32_MAX - 5);
  for (std::int64_t i = 0; i < 20; ++i) queue.admit(100, i, i % 3 == 0 ? kAsynchronous : 0);
  std::vector<std::int64_t> expected;
  for (std::int64_t i = 0; i < 20; ++i) expected.push_back(i);
  CHECK(queue.drain() == expected);
}

TEST_CASE("posts at the front stay newest first, and first, when the sequence numbers start again") {
  Admitted queue(INT32_MAX - 3);
  queue.admit(5, 0);
  queue.admit(0, 1, kAtFront);
  for (std::int64_t i = 2; i < 8; ++i) queue.admit(5, i);
  queue.admit(0, 8, kAtFront);
  CHECK(queue.drain() == std::vector<std::int64_t>{8, 1, 0, 2, 3, 4, 5, 6, 7});
}

TEST_CASE("an erased node is in no heap, and erasing it again does nothing") {
  Admitted queue(1);
  queue.admit(1, 0);
  queue.admit(2, 1);
  ShippedNode* const node = queue.lanes.node_of(*queue.lanes.head());
  queue.lanes.erase(node);
  queue.lanes.erase(node);
  CHECK(queue.lanes.size() == 1);
  CHECK(queue.drain() == std::vector<std::int64_t>{1});
}

}  // namespace unjank::deliqueue
