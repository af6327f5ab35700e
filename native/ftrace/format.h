// The layouts that the kernel declares for its trace pages and events. Nothing about offsets is known
// beforehand: they differ between kernel versions, word sizes and configurations.
//
// Read from tracefs: events/header_page, events/header_event, events/GROUP/NAME/format
// (Documentation/trace/events.rst, ring-buffer-design.rst).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ftrace/bytes.h"

namespace unjank::ftrace {

// Where a field lies. For the two indirect kinds the field holds a 32-bit word: length in the upper half,
// offset in the lower, from the record's start or from the word's end.
struct FieldLayout {
  enum class Kind : std::uint8_t { kInline, kOffset, kRelativeOffset };

  std::string name;
  std::size_t offset = 0;
  std::size_t size = 0;
  bool is_signed = false;
  Kind kind = Kind::kInline;
};

struct EventFormat {
  std::string name;
  std::uint16_t id = 0;
  std::vector<FieldLayout> fields;

  const FieldLayout* find(std::string_view field) const;
};

// A page: time stamp, commit word (bytes of data used, and flags), data.
struct PageLayout {
  FieldLayout timestamp;
  FieldLayout commit;
  FieldLayout data;

  std::size_t page_size() const { return data.offset + data.size; }
};

// The 32-bit head of each record: how many bits its type takes, and what the types above the
// plain lengths mean.
struct RecordLayout {
  std::uint32_t type_bits = 0;
  std::uint32_t delta_bits = 0;
  std::uint32_t max_length_type = 0;  // types 1 to this one: a record of 4 × type bytes; 0: length follows
  std::uint32_t padding = 0;
  std::uint32_t time_extend = 0;
  std::uint32_t time_stamp = kNoType;  // absolute time; kernels before 4.17 have none

  static constexpr std::uint32_t kNoType = UINT32_MAX;
};

// The text of a field, up to its terminator, wherever the field says it lies; cut at the record's end.
std::string_view load_text(const FieldLayout& field, Bytes record);

// Nothing where the text does not declare what it has to.
std::optional<EventFormat> parse_event_format(std::string_view text);
std::optional<PageLayout> parse_page_layout(std::string_view text);
std::optional<RecordLayout> parse_record_layout(std::string_view text);

}  // namespace unjank::ftrace
