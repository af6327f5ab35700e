// The heap against std::sort and a sorted model, both comparators.
#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "deliqueue/heap.h"
#include "doctest/doctest.h"

namespace unjank::deliqueue {

namespace {

bool less(const Key& a, const Key& b) { return std::pair(a.when, a.sequence) < std::pair(b.when, b.sequence); }

// Keys with slots: those of the vector's indices.
std::vector<Key> keys(std::size_t count, unsigned seed, std::int64_t spread) {
  std::mt19937_64 random(seed);
  std::vector<Key> out(count);
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = {static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(spread)) - spread / 2,
              static_cast<std::int32_t>(i)};
  }
  return out;
}

template <class Before = BranchlessBefore>
struct TestHeap {
  explicit TestHeap(const std::vector<Key>& keys) : all(keys) { positions.resize(keys.size()); }
  void push(std::size_t i) { heap.push(all[i], static_cast<Slot>(i)); }
  void append(std::size_t i) { heap.append(all[i], static_cast<Slot>(i)); }
  void push_all() {
    for (std::size_t i = 0; i < all.size(); ++i) push(i);
  }
  void check_drains_sorted() {
    for (std::size_t i = 0; i < heap.size(); ++i) REQUIRE(positions.of(heap.entries()[i].slot) == i);
    std::vector<Key> out;
    while (!heap.empty()) out.push_back(all[heap.pop()]);
    CHECK(std::is_sorted(out.begin(), out.end(), less));
  }

  std::vector<Key> all;
  Positions positions;
  Heap<Before> heap{positions};
};

}  // namespace

TEST_CASE("the comparators agree with each other, at the extremes too") {
  const std::int64_t times[] = {INT64_MIN, -1, 0, 1, INT64_MAX};
  const std::int32_t sequences[] = {INT32_MIN, -1, 0, 1, INT32_MAX};
  for (auto a : times)
    for (auto b : sequences)
      for (auto c : times)
        for (auto d : sequences) {
          const Key first{a, b}, second{c, d};
          CHECK(BranchlessBefore::before(first, second) == less(first, second));
          CHECK(BranchyBefore::before(first, second) == less(first, second));
        }
}

TEST_CASE_TEMPLATE("pushed keys come out sorted", Before, BranchlessBefore, BranchyBefore) {
  for (std::int64_t spread : {1, 3, 1'000'000}) {
    TestHeap<Before> test(keys(1'000, 1, spread));
    test.push_all();
    test.check_drains_sorted();
  }
}

TEST_CASE_TEMPLATE("a batch of any size on a heap of any size settles into order", Before, BranchlessBefore,
                   BranchyBefore) {
  for (std::size_t settled = 0; settled < 40; ++settled) {
    for (std::size_t added = 0; added < 90; ++added) {
      TestHeap<Before> test(keys(settled + added, static_cast<unsigned>(settled * 100 + added), 50));
      for (std::size_t i = 0; i < settled; ++i) test.push(i);
      for (std::size_t i = settled; i < test.all.size(); ++i) test.append(i);
      test.heap.settle(settled);
      REQUIRE(test.heap.size() == test.all.size());
      test.check_drains_sorted();
    }
  }
}

TEST_CASE("small batches on a large heap settle into order") {
  TestHeap<> test(keys(5'000, 7, 1'000));
  for (std::size_t i = 0; i < test.all.size();) {
    const std::size_t settled = test.heap.size();
    for (std::size_t batch = 0; batch < 1 + i % 97 && i < test.all.size(); ++batch, ++i) test.append(i);
    test.heap.settle(settled);
  }
  test.check_drains_sorted();
}

TEST_CASE("any entry can be erased by its position") {
  std::mt19937 random(3);
  TestHeap<> test(keys(600, 3, 100));
  test.push_all();
  std::vector<Slot> order(test.all.size());
  std::iota(order.begin(), order.end(), Slot{0});
  std::shuffle(order.begin(), order.end(), random);
  for (std::size_t i = 0; i < 400; ++i) test.heap.erase(test.positions.of(order[i]));
  CHECK(test.heap.size() == 200);
  test.check_drains_sorted();
}

TEST_CASE("extract_if takes exactly what fits and leaves a heap") {
  TestHeap<> test(keys(500, 5, 100));
  test.push_all();
  std::size_t taken = 0;
  test.heap.extract_if([](const Key& key) { return key.when > 0; },
                       [&](Slot slot) {
                         CHECK(test.all[slot].when > 0);
                         ++taken;
                       });
  CHECK(taken + test.heap.size() == 500);
  for (const HeapEntry& entry : test.heap.entries()) CHECK(entry.when <= 0);
  test.check_drains_sorted();
}

TEST_CASE("second is what is head after a pop") {
  TestHeap<> test(keys(300, 9, 1'000));
  test.push_all();
  while (test.heap.size() > 1) {
    const Slot second = test.heap.second().slot;
    test.heap.pop();
    REQUIRE(test.heap.head().slot == second);
  }
}

TEST_CASE("siblings fill a pair of cache lines") {
  TestHeap<> test(keys(100, 11, 10));
  test.push_all();
  CHECK(reinterpret_cast<std::uintptr_t>(&test.heap.entries()[1]) % (2 * kCacheLine) == 0);
}

}  // namespace unjank::deliqueue
