#include <doctest/doctest.h>

#include "event_builder.h"
#include "ftrace/cpu_buffer.h"
#include "ftrace/trace_fields.h"
#include "page_builder.h"
#include "proto_reader.h"

using namespace unjank::ftrace;
using namespace unjank::ftrace::testing;
using unjank::ProtoWriter;

namespace {

constexpr std::uint32_t kSequence = 99;
constexpr std::uint64_t kStart = 500;

Formats formats() {
  Formats formats{page_layout(), record_layout(), {}, {}};
  formats.encoder.add(switch_format());
  formats.sched.learn(switch_format());
  return formats;
}

void add(PageBatch& batch, const std::vector<std::byte>& page) {
  const auto slot = batch.free_slot();
  REQUIRE(page.size() <= slot.size());
  std::memcpy(slot.data(), page.data(), page.size());
  batch.commit(page.size());
}

std::vector<std::byte> switch_page(std::uint64_t time) {
  return PageBuilder(time).record(0, switch_record(1, 2).bytes()).record(10, switch_record(2, 1).bytes()).build();
}

struct Encoded {
  ProtoWriter out;
  Totals totals;
  std::vector<ProtoField> packets() const { return all(out.view(), proto::trace::kPacket); }
  Bytes bundle(std::size_t index) const { return first(packets()[index].bytes, proto::packet::kFtraceEvents).bytes; }
};

Encoded encode(const std::vector<std::vector<std::byte>>& pages) {
  const Formats known = formats();
  PageBatch batch(pages.size(), 4096);
  for (const auto& page : pages) add(batch, page);
  BundleEncoder encoder(known, 3, kSequence, kStart);
  Encoded encoded;
  encoder.encode(batch, {}, encoded.out, encoded.totals);
  return encoded;
}

}  // namespace

TEST_CASE("a batch becomes one packet with its CPU, sequence and all events") {
  const Encoded encoded = encode({switch_page(1000), switch_page(2000)});
  REQUIRE(encoded.packets().size() == 1);
  CHECK(first(encoded.packets()[0].bytes, proto::packet::kSequenceId).value == kSequence);
  CHECK(first(encoded.bundle(0), proto::bundle::kCpu).value == 3);
  CHECK(first(encoded.bundle(0), proto::bundle::kPreviousBundleEnd).value == kStart);
  CHECK(all(encoded.bundle(0), proto::bundle::kEvent).size() == 4);
  CHECK(all(encoded.bundle(0), proto::bundle::kLostEvents).empty());
  CHECK(encoded.totals.events == 4);
  CHECK(encoded.totals.packets == 1);
}

TEST_CASE("a page after a loss begins a packet of its own, marked") {
  auto lossy = PageBuilder(3000).record(0, switch_record(1, 2).bytes()).lost(5).build();
  const Encoded encoded = encode({switch_page(1000), switch_page(2000), lossy, switch_page(4000)});
  REQUIRE(encoded.packets().size() == 2);
  CHECK(all(encoded.bundle(0), proto::bundle::kEvent).size() == 4);
  CHECK(all(encoded.bundle(0), proto::bundle::kLostEvents).empty());
  CHECK(all(encoded.bundle(1), proto::bundle::kEvent).size() == 3);
  CHECK(first(encoded.bundle(1), proto::bundle::kLostEvents).value == 1);
  CHECK(first(encoded.bundle(1), proto::bundle::kPreviousBundleEnd).value == 2010);
}

TEST_CASE("a malformed page is counted and does not take its neighbours along") {
  auto broken = PageBuilder(2000).record(0, switch_record(1, 2).bytes()).head(28, 1).build();
  const Encoded encoded = encode({switch_page(1000), broken, switch_page(3000)});
  CHECK(encoded.totals.malformed_pages == 1);
  CHECK(encoded.totals.events == 5);
}

TEST_CASE("records of other events are counted as skipped") {
  auto page = PageBuilder(0).record(0, RecordBuilder(9, 1).bytes()).record(1, switch_record(1, 2).bytes()).build();
  const Encoded encoded = encode({page});
  CHECK(encoded.totals.skipped_records == 1);
  CHECK(encoded.totals.events == 1);
}

TEST_CASE("an unreported exit from idle is written into its CPU's packet and counted") {
  const Formats known = formats();
  PageBatch batch(1, 4096);
  add(batch, PageBuilder(1000)
                 .record(0, switch_record(7, 0).bytes())
                 .record(100, switch_record(7, 0).bytes())
                 .build());
  WakingLog wakings;
  wakings.note(7, 1040);
  wakings.end_round();
  Encoded encoded;
  BundleEncoder(known, 3, kSequence, kStart).encode(batch, wakings, encoded.out, encoded.totals);
  const auto events = all(encoded.bundle(0), proto::bundle::kEvent);
  REQUIRE(events.size() == 3);
  CHECK(first(events[1].bytes, proto::event::kTimestamp).value == 1041);
  CHECK(encoded.totals.events == 2);
  CHECK(encoded.totals.inferred_switches == 1);
}

TEST_CASE("a batch is full after its number of pages and empty after clear") {
  PageBatch batch(2, 4096);
  CHECK(batch.empty());
  add(batch, switch_page(1));
  CHECK_FALSE(batch.full());
  add(batch, switch_page(2));
  CHECK(batch.full());
  batch.clear();
  CHECK(batch.empty());
}
