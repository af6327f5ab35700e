// The heap against std::sort and a sorted model, both comparators.
#include <algorithm>
#include <random>

#include "deliqueue/heap.h"
#include "doctest/doctest.h"

namespace unjank::deliqueue {

namespace {

struct Item {
  Key key;
  std::size_t index = SIZE_MAX;
};
struct ItemIndex {
  static void moved(Item* item, std::size_t index) { item->index = index; }
};
template <class Before>
using TestHeap = Heap<Item*, ItemIndex, Before>;

bool less(const Key& a, const Key& b) { return std::pair(a.when, a.sequence) < std::pair(b.when, b.sequence); }

std::vector<Item> items(std::size_t count, unsigned seed, std::int64_t spread) {
  std::mt19937_64 random(seed);
  std::vector<Item> out(count);
  for (std::size_t i = 0; i < count; ++i) {
    out[i].key = {static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(spread)) - spread / 2,
                  static_cast<std::int64_t>(i)};
  }
  return out;
}

template <class H>
void check_drains_sorted(H& heap) {
  for (std::size_t i = 0; i < heap.size(); ++i) REQUIRE(heap.entries()[i].item->index == i);
  std::vector<Key> out;
  while (!heap.empty()) out.push_back(heap.pop()->key);
  CHECK(std::is_sorted(out.begin(), out.end(), less));
}

}  // namespace

TEST_CASE("the comparators agree with each other, at the extremes too") {
  const std::int64_t values[] = {INT64_MIN, -1, 0, 1, INT64_MAX};
  for (auto a : values)
    for (auto b : values)
      for (auto c : values)
        for (auto d : values) {
          CHECK(BranchlessBefore::before({a, b}, {c, d}) == less({a, b}, {c, d}));
          CHECK(BranchyBefore::before({a, b}, {c, d}) == less({a, b}, {c, d}));
        }
}

TEST_CASE_TEMPLATE("pushed keys come out sorted", Before, BranchlessBefore, BranchyBefore) {
  for (std::int64_t spread : {1, 3, 1'000'000}) {
    std::vector<Item> all = items(1'000, 1, spread);
    TestHeap<Before> heap;
    for (Item& item : all) heap.push(item.key, &item);
    check_drains_sorted(heap);
  }
}

TEST_CASE_TEMPLATE("a batch of any size on a heap of any size settles into order", Before, BranchlessBefore,
                   BranchyBefore) {
  for (std::size_t settled = 0; settled < 40; ++settled) {
    for (std::size_t added = 0; added < 90; ++added) {
      std::vector<Item> all = items(settled + added, static_cast<unsigned>(settled * 100 + added), 50);
      TestHeap<Before> heap;
      for (std::size_t i = 0; i < settled; ++i) heap.push(all[i].key, &all[i]);
      for (std::size_t i = settled; i < all.size(); ++i) heap.append(all[i].key, &all[i]);
      heap.settle(settled);
      REQUIRE(heap.size() == all.size());
      check_drains_sorted(heap);
    }
  }
}

TEST_CASE("small batches on a large heap settle into order") {
  std::vector<Item> all = items(5'000, 7, 1'000);
  TestHeap<BranchlessBefore> heap;
  for (std::size_t i = 0; i < all.size();) {
    const std::size_t settled = heap.size();
    for (std::size_t batch = 0; batch < 1 + i % 97 && i < all.size(); ++batch, ++i) heap.append(all[i].key, &all[i]);
    heap.settle(settled);
  }
  check_drains_sorted(heap);
}

TEST_CASE("any entry can be erased by its index") {
  std::mt19937 random(3);
  std::vector<Item> all = items(600, 3, 100);
  TestHeap<BranchlessBefore> heap;
  for (Item& item : all) heap.push(item.key, &item);
  std::vector<Item*> order;
  for (Item& item : all) order.push_back(&item);
  std::shuffle(order.begin(), order.end(), random);
  for (std::size_t i = 0; i < 400; ++i) heap.erase(order[i]->index);
  CHECK(heap.size() == 200);
  check_drains_sorted(heap);
}

TEST_CASE("extract_if takes exactly what fits and leaves a heap") {
  std::vector<Item> all = items(500, 5, 100);
  TestHeap<BranchlessBefore> heap;
  for (Item& item : all) heap.push(item.key, &item);
  std::size_t taken = 0;
  heap.extract_if([](const Key& key) { return key.when > 0; },
                  [&](Item* item) {
                    CHECK(item->key.when > 0);
                    ++taken;
                  });
  CHECK(taken + heap.size() == 500);
  for (const auto& entry : heap.entries()) CHECK(entry.key.when <= 0);
  check_drains_sorted(heap);
}

}  // namespace unjank::deliqueue
