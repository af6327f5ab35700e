// The pool: nodes go home, and stocks outlive their threads.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

#include "deliqueue/node_pool.h"
#include "doctest/doctest.h"

namespace unjank::deliqueue {

struct NodePoolProbe {
  static std::mutex& lock() { return NodePool::registry().mutex; }
  // glibc's futex word is 2 while somebody sleeps on it.
  static bool awaited() { return std::atomic_ref(lock().native_handle()->__data.__lock).load() == 2; }
};

namespace {

std::vector<ShippedNode*> take(std::size_t count) {
  std::vector<ShippedNode*> nodes;
  for (std::size_t i = 0; i < count; ++i) nodes.push_back(NodePool::take());
  return nodes;
}

void give_back(const std::vector<ShippedNode*>& nodes) {
  ShippedNode* first = nullptr;
  for (ShippedNode* node : nodes) {
    node->free_next.set(first);
    first = node;
  }
  NodePool::give_back(first);
}

}  // namespace

TEST_CASE("nodes that are out at the same time are distinct and aligned to their size") {
  const auto nodes = take(1'000);
  CHECK(std::set(nodes.begin(), nodes.end()).size() == 1'000);
  for (ShippedNode* node : nodes) CHECK(reinterpret_cast<std::uintptr_t>(node) % sizeof(ShippedNode) == 0);
  give_back(nodes);
}

TEST_CASE("what another thread gives back is taken again before new memory is") {
  const auto nodes = take(500);
  std::thread([&] { give_back(nodes); }).join();
  const std::set<ShippedNode*> before(nodes.begin(), nodes.end());
  std::size_t reused = 0;
  std::vector<ShippedNode*> again = take(2'000);
  for (ShippedNode* node : again) reused += before.contains(node);
  CHECK(reused == 500);
  give_back(again);
}

TEST_CASE("the stock of a thread that ended is adopted, nodes still out included") {
  std::vector<ShippedNode*> nodes;
  std::thread([&] { nodes = take(300); }).join();
  give_back(nodes);
  std::vector<ShippedNode*> again;
  std::thread([&] {
    again = take(2'000);
    give_back(again);
  }).join();
  const std::set<ShippedNode*> seen(again.begin(), again.end());
  CHECK(std::all_of(nodes.begin(), nodes.end(), [&](ShippedNode* node) { return seen.contains(node); }));
}

TEST_CASE("a list of nodes from several threads goes back in one call") {
  std::vector<ShippedNode*> mixed = take(10);
  std::thread([&] {
    for (ShippedNode* node : take(10)) mixed.push_back(node);
  }).join();
  for (ShippedNode* node : take(10)) mixed.push_back(node);
  give_back(mixed);
  const auto again = take(200);
  CHECK(std::set(again.begin(), again.end()).size() == 200);
  give_back(again);
}

TEST_CASE("fork waits for whoever holds the registry, so that a child can take nodes") {
  std::mutex& lock = NodePoolProbe::lock();
  std::atomic<bool> held{false}, forked{false};
  std::thread holder([&] {
    const std::lock_guard holding(lock);
    held = true;
    while (!NodePoolProbe::awaited() && !forked) std::this_thread::yield();
  });
  while (!held) std::this_thread::yield();
  const pid_t child = fork();
  if (child == 0) _exit(lock.try_lock() ? 0 : 1);
  forked = true;
  holder.join();
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

}  // namespace unjank::deliqueue
