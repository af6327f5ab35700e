// Numbers for texts: found again, capped, unknown once full.
#include "record/dictionary.h"

#include <doctest/doctest.h>

namespace unjank::record {

TEST_CASE("number 0 is the unknown entry") {
  const Dictionary dictionary;
  CHECK(dictionary.sites.at(0).function == "unknown");
  CHECK(dictionary.names.at(0).full == "unnamed lock");
  CHECK(dictionary.stacks.at(0).empty());
}

TEST_CASE("a table answers 0 once it is full and keeps what it has") {
  Table<int> table(-1, 3);
  CHECK(table.add(10) == 1);
  CHECK(table.add(20) == 2);
  CHECK_FALSE(table.full());
  CHECK(table.add(30) == 3);
  CHECK(table.full());
  CHECK(table.add(40) == 0);
  CHECK(table.at(0) == -1);
  CHECK(table.at(3) == 30);
}

TEST_CASE("an entry does not move when others are added") {
  Table<int> table(0, 100'000);
  const int* first = &table.at(table.add(1));
  for (int i = 0; i < 50'000; ++i) table.add(i);
  CHECK(first == &table.at(1));
}

TEST_CASE("the same stack is the same number") {
  StackTable stacks;
  const std::uint32_t one = stacks.intern({1, 2, 3});
  const std::uint32_t other = stacks.intern({1, 2});
  CHECK(one != other);
  CHECK(stacks.intern({1, 2, 3}) == one);
  CHECK(stacks.at(one) == StackTable::Frames{1, 2, 3});
  CHECK(stacks.at(other) == StackTable::Frames{1, 2});
}

TEST_CASE("the stack table stops growing at its limit and still finds what it has") {
  StackTable stacks;
  const std::uint32_t first = stacks.intern({0});
  std::uint32_t last = first;
  std::uint32_t count = 0;
  for (; last != 0 && count < 1'000'000; ++count) last = stacks.intern({count + 1});
  CHECK(last == 0);
  CHECK(count == 1 << 16);
  CHECK(stacks.intern({0}) == first);
}

}  // namespace unjank::record
