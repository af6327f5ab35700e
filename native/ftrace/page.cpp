#include "ftrace/page.h"

#include <bit>

namespace unjank::ftrace {
namespace {

// The commit word's flags, and the bits that count bytes of data.
constexpr std::uint64_t kMissedEvents = std::uint64_t{1} << 31;
constexpr std::uint64_t kMissedStored = std::uint64_t{1} << 30;
constexpr std::uint64_t kCommitSize = (std::uint64_t{1} << 20) - 1;

// An absolute time stamp carries 59 bits; the upper five are those of the page's own stamp.
constexpr std::uint64_t kUpperTimeBits = std::uint64_t{0x1f} << 59;

}  // namespace

PageCursor::PageCursor(const PageLayout& page_layout, const RecordLayout& record_layout, Bytes page)
    : layout_(record_layout) {
  const auto timestamp = load<std::uint64_t>(page, page_layout.timestamp.offset);
  if (!timestamp || page.size() < page_layout.data.offset) {
    fail();
    return;
  }
  now_ns_ = *timestamp;
  read_commit(page_layout, page);
}

// A page with lost events may hold their count behind its data, which the size then leaves out.
void PageCursor::read_commit(const PageLayout& layout, Bytes page) {
  const auto word = load_integer(page, layout.commit.offset, layout.commit.size, false);
  if (!word) {
    fail();
    return;
  }
  const auto commit = static_cast<std::uint64_t>(*word);
  const Bytes data = page.subspan(layout.data.offset);
  const std::size_t size = commit & kCommitSize;
  lost_before_ = (commit & kMissedEvents) != 0;
  if (size > data.size()) {
    fail();
    return;
  }
  if (lost_before_ && (commit & kMissedStored) != 0) {
    const auto count = load_integer(data, size, layout.commit.size, true);
    if (count && *count > 0) lost_count_ = static_cast<std::uint64_t>(*count);
  }
  data_ = data.first(size);
}

bool PageCursor::fail() {
  malformed_ = true;
  data_ = {};
  return false;
}

bool PageCursor::take_word(std::uint32_t& word) {
  const auto loaded = load<std::uint32_t>(data_, 0);
  if (!loaded) return fail();
  word = *loaded;
  data_ = data_.subspan(sizeof word);
  return true;
}

// C bit-fields: the first declared, the type, takes the low bits on little-endian machines and the high ones
// on big-endian machines.
bool PageCursor::take_head(Head& head) {
  std::uint32_t word;
  if (!take_word(word)) return false;
  if constexpr (std::endian::native == std::endian::little)
    head = {word & ((std::uint32_t{1} << layout_.type_bits) - 1), word >> layout_.type_bits};
  else
    head = {word >> layout_.delta_bits, word & ((std::uint32_t{1} << layout_.delta_bits) - 1)};
  return true;
}

bool PageCursor::take_payload(std::size_t size, Bytes& payload) {
  if (size > data_.size()) return fail();
  payload = data_.first(size);
  data_ = data_.subspan(size);
  return true;
}

// A record that was reserved and then discarded, or, with no time of its own, the rest of the page.
bool PageCursor::skip_padding(const Head& head) {
  if (head.delta == 0) {
    data_ = {};
    return false;
  }
  now_ns_ += head.delta;
  std::uint32_t size;
  Bytes skipped;
  if (!take_word(size)) return false;
  return size >= sizeof size ? take_payload(size - sizeof size, skipped) : fail();
}

bool PageCursor::extend_time(const Head& head) {
  std::uint32_t upper;
  if (!take_word(upper)) return false;
  now_ns_ += (std::uint64_t{upper} << layout_.delta_bits) + head.delta;
  return true;
}

bool PageCursor::set_time(const Head& head) {
  std::uint32_t upper;
  if (!take_word(upper)) return false;
  const std::uint64_t lower = (std::uint64_t{upper} << layout_.delta_bits) + head.delta;
  now_ns_ = (lower & ~kUpperTimeBits) | (now_ns_ & kUpperTimeBits);
  return true;
}

// Type 0: the length, its own word included, comes first. Otherwise the type counts words.
bool PageCursor::take_record(const Head& head, Record& record) {
  now_ns_ += head.delta;
  record.timestamp_ns = now_ns_;
  if (head.type != 0) return take_payload(head.type * sizeof(std::uint32_t), record.payload);
  std::uint32_t size;
  if (!take_word(size)) return false;
  if (size < sizeof size) return fail();
  return take_payload(size - sizeof size, record.payload);
}

bool PageCursor::next(Record& record) {
  while (!data_.empty()) {
    Head head;
    if (!take_head(head)) return false;
    if (head.type <= layout_.max_length_type) return take_record(head, record);
    bool ok = false;
    if (head.type == layout_.padding) ok = skip_padding(head);
    else if (head.type == layout_.time_extend) ok = extend_time(head);
    else if (head.type == layout_.time_stamp) ok = set_time(head);
    else fail();
    if (!ok) return false;
  }
  return false;
}

}  // namespace unjank::ftrace
