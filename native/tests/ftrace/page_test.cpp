#include "ftrace/page.h"

#include <doctest/doctest.h>

#include <random>

#include "page_builder.h"

using namespace unjank::ftrace;
using testing::PageBuilder;
using testing::words;

namespace {

struct Walked {
  std::vector<std::uint64_t> times;
  std::vector<std::size_t> sizes;
  bool malformed;
};

Walked walk(Bytes page) {
  PageCursor cursor(testing::page_layout(), testing::record_layout(), page);
  Walked walked{};
  Record record;
  while (cursor.next(record)) {
    walked.times.push_back(record.timestamp_ns);
    walked.sizes.push_back(record.payload.size());
  }
  walked.malformed = cursor.malformed();
  return walked;
}

using Times = std::vector<std::uint64_t>;
using Sizes = std::vector<std::size_t>;

}  // namespace

TEST_CASE("records carry their data, and times add up from the page's own") {
  const auto page = PageBuilder(1000).record(5, words({1, 2})).record(7, words({3})).build();
  const Walked walked = walk(page);
  CHECK(walked.times == Times{1005, 1012});
  CHECK(walked.sizes == Sizes{8, 4});
  CHECK_FALSE(walked.malformed);
}

TEST_CASE("a record longer than its type can say has its length in a word of its own") {
  const std::vector<std::byte> payload(200);
  const auto page = PageBuilder(0).long_record(1, payload).record(1, words({9})).build();
  CHECK(walk(page).sizes == Sizes{200, 4});
}

TEST_CASE("a time extend adds what 27 bits cannot hold") {
  const std::uint64_t hour = 3'600'000'000'000;
  const auto page = PageBuilder(10).time_extend(hour).record(2, words({1})).build();
  CHECK(walk(page).times == Times{10 + hour + 2});
}

TEST_CASE("an absolute time stamp replaces the time and keeps the page's upper five bits") {
  const std::uint64_t upper = std::uint64_t{3} << 59;
  const auto page = PageBuilder(upper | 10).time_stamp(5'000'000'000).record(0, words({1})).build();
  CHECK(walk(page).times == Times{upper | 5'000'000'000});
}

TEST_CASE("a discarded record is skipped and its time counts") {
  const auto page = PageBuilder(0).record(1, words({1})).discarded(10, 24).record(2, words({2})).build();
  CHECK(walk(page).times == Times{1, 13});
}

TEST_CASE("padding without a time ends the page") {
  const auto page = PageBuilder(0).record(1, words({1})).head(29, 0).record(2, words({2})).build();
  const Walked walked = walk(page);
  CHECK(walked.times == Times{1});
  CHECK_FALSE(walked.malformed);
}

TEST_CASE("an empty page has no records and is fine") {
  const Walked walked = walk(PageBuilder(1).build());
  CHECK(walked.times.empty());
  CHECK_FALSE(walked.malformed);
}

TEST_CASE("lost events are flagged, with their count where the page has one") {
  const auto count_of = [](const std::vector<std::byte>& page) {
    const PageCursor cursor(testing::page_layout(), testing::record_layout(), page);
    return std::pair(cursor.lost_before(), cursor.lost_count());
  };
  CHECK(count_of(PageBuilder(0).record(1, words({1})).build()) == std::pair(false, std::uint64_t{0}));
  CHECK(count_of(PageBuilder(0).record(1, words({1})).lost().build()) == std::pair(true, std::uint64_t{0}));
  CHECK(count_of(PageBuilder(0).record(1, words({1})).lost(77).build()) == std::pair(true, std::uint64_t{77}));
}

TEST_CASE("the lost count behind the data is not taken for a record") {
  CHECK(walk(PageBuilder(0).record(1, words({1})).lost(77).build()).times == Times{1});
}

TEST_CASE("a larger sub-buffer than the header declares is walked to its end") {
  PageBuilder builder(0);
  for (int i = 0; i < 1000; ++i) builder.record(1, words({1, 2, 3}));
  CHECK(walk(builder.build(16384)).times.size() == 1000);
}

TEST_CASE("a record that reaches past the data ends the walk as malformed, what came before stands") {
  const auto page = PageBuilder(0).record(1, words({1})).head(20, 1).raw(std::uint32_t{1}).build();
  const Walked walked = walk(page);
  CHECK(walked.times == Times{1});
  CHECK(walked.malformed);
}

TEST_CASE("lengths too small to hold themselves are malformed, not endless") {
  for (std::uint32_t size : {0u, 3u}) {
    CHECK(walk(PageBuilder(0).head(0, 1).raw(size).raw(0).build()).malformed);
    CHECK(walk(PageBuilder(0).head(29, 1).raw(size).raw(0).build()).malformed);
  }
}

TEST_CASE("a head cut off in the middle is malformed") {
  CHECK(walk(PageBuilder(0).head(30, 1).build()).malformed);
  CHECK(walk(PageBuilder(0).raw(std::uint16_t{1}).build()).malformed);
}

TEST_CASE("a type above those the kernel declares is malformed") {
  RecordLayout without_stamps = testing::record_layout();
  without_stamps.time_stamp = RecordLayout::kNoType;
  const auto page = PageBuilder(0).time_stamp(5).build();
  PageCursor cursor(testing::page_layout(), without_stamps, page);
  Record record;
  CHECK_FALSE(cursor.next(record));
  CHECK(cursor.malformed());
}

TEST_CASE("a page shorter than its head, or than its commit word says, is malformed") {
  auto page = PageBuilder(0).record(1, words({1, 2, 3, 4})).build();
  for (std::size_t size = 0; size < 36; ++size) {
    CAPTURE(size);
    CHECK(walk(Bytes(page).first(size)).malformed);
  }
  CHECK_FALSE(walk(Bytes(page).first(36)).malformed);
}

TEST_CASE("random pages are walked without reading outside of them") {
  std::mt19937 random(20261130);  // with the address sanitizer a stray read ends the test
  for (int round = 0; round < 20'000; ++round) {
    std::vector<std::byte> page(random() % 300);
    for (std::byte& byte : page) byte = static_cast<std::byte>(random());
    // A plausible size, or nearly all pages would end at their commit word.
    if (page.size() > 16) {
      const std::uint64_t commit = random() % (page.size() - 15) | std::uint64_t{random() & 3} << 30;
      std::memcpy(page.data() + 8, &commit, 8);
    }
    std::size_t total = 0;
    for (const std::size_t size : walk(page).sizes) total += size;
    CHECK(total <= page.size());
  }
}
