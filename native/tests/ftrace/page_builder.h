// Pages as a little-endian or big-endian kernel of this machine's kind would write them, record by record.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "ftrace/bytes.h"
#include "ftrace/format.h"

namespace unjank::ftrace::testing {

inline constexpr std::string_view kHeaderPage =
    "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
    "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
    "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
    "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";

inline constexpr std::string_view kHeaderEvent =
    "# compressed entry header\n"
    "\ttype_len    :    5 bits\n"
    "\ttime_delta  :   27 bits\n"
    "\tarray       :   32 bits\n"
    "\n"
    "\tpadding     : type == 29\n"
    "\ttime_extend : type == 30\n"
    "\ttime_stamp : type == 31\n"
    "\tdata max type_len  == 28\n";

inline PageLayout page_layout() { return *parse_page_layout(kHeaderPage); }
inline RecordLayout record_layout() { return *parse_record_layout(kHeaderEvent); }

class PageBuilder {
 public:
  explicit PageBuilder(std::uint64_t timestamp_ns) : timestamp_ns_(timestamp_ns) {}

  template <class Number>
  PageBuilder& raw(Number number) {
    const std::size_t at = data_.size();
    data_.resize(at + sizeof number);
    std::memcpy(data_.data() + at, &number, sizeof number);
    return *this;
  }

  PageBuilder& head(std::uint32_t type, std::uint32_t delta) {
    if constexpr (std::endian::native == std::endian::little) return raw(delta << 5 | type);
    else return raw(type << 27 | delta);
  }

  PageBuilder& payload(Bytes bytes) {
    data_.insert(data_.end(), bytes.begin(), bytes.end());
    return *this;
  }

  // A record whose type is its length in words.
  PageBuilder& record(std::uint32_t delta, Bytes bytes) {
    return head(static_cast<std::uint32_t>(bytes.size() / 4), delta).payload(bytes);
  }

  // A record whose length comes in a word of its own.
  PageBuilder& long_record(std::uint32_t delta, Bytes bytes) {
    return head(0, delta).raw(static_cast<std::uint32_t>(bytes.size() + 4)).payload(bytes);
  }

  PageBuilder& time_extend(std::uint64_t delta) {
    return head(30, static_cast<std::uint32_t>(delta & 0x7ffffff)).raw(static_cast<std::uint32_t>(delta >> 27));
  }

  PageBuilder& time_stamp(std::uint64_t time) {
    return head(31, static_cast<std::uint32_t>(time & 0x7ffffff)).raw(static_cast<std::uint32_t>(time >> 27));
  }

  PageBuilder& discarded(std::uint32_t delta, std::uint32_t payload_size) {
    head(29, delta).raw(payload_size);
    data_.resize(data_.size() + payload_size - 4);
    return *this;
  }

  PageBuilder& lost() { return flags_ |= std::uint64_t{1} << 31, *this; }
  PageBuilder& lost(std::uint64_t count) {
    flags_ |= std::uint64_t{3} << 30;
    lost_count_ = count;
    return *this;
  }

  // What a read hands out: head, data, the lost count where there is one, zeros.
  std::vector<std::byte> build(std::size_t page_size = 4096) const {
    const std::uint64_t commit = data_.size() | flags_;
    std::vector<std::byte> page(page_size);
    std::memcpy(page.data(), &timestamp_ns_, 8);
    std::memcpy(page.data() + 8, &commit, 8);
    if (!data_.empty()) std::memcpy(page.data() + 16, data_.data(), data_.size());
    if (lost_count_ != 0) std::memcpy(page.data() + 16 + data_.size(), &lost_count_, 8);
    return page;
  }

 private:
  std::uint64_t timestamp_ns_;
  std::uint64_t flags_ = 0;
  std::uint64_t lost_count_ = 0;
  std::vector<std::byte> data_;
};

inline std::vector<std::byte> words(std::initializer_list<std::uint32_t> values) {
  std::vector<std::byte> bytes(values.size() * 4);
  std::memcpy(bytes.data(), values.begin(), bytes.size());
  return bytes;
}

}  // namespace unjank::ftrace::testing
