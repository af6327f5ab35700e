#include "ftrace/format.h"

#include <algorithm>
#include <charconv>

namespace unjank::ftrace {
namespace {

constexpr std::string_view kBlank = " \t\r";

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

// Takes the part up to `separator` off the front of `text`.
std::string_view take(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  const std::string_view part = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  return part;
}

template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  text = trim(text);
  Number number{};
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || result.ec != std::errc{}) return std::nullopt;
  return number;
}

// The text after `key` on the line that starts with it.
std::optional<std::string_view> line_value(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::string_view line = trim(take(text, '\n'));
    if (line.starts_with(key)) return trim(line.substr(key.size()));
  }
  return std::nullopt;
}

FieldLayout::Kind kind_of(std::string_view declaration) {
  if (declaration.starts_with("__data_loc ")) return FieldLayout::Kind::kOffset;
  if (declaration.starts_with("__rel_loc ")) return FieldLayout::Kind::kRelativeOffset;
  return FieldLayout::Kind::kInline;
}

// "unsigned char comm[16]" and "__data_loc char[] comm" both declare "comm".
std::string_view name_of(std::string_view declaration) {
  std::string_view name = trim(declaration);
  if (name.ends_with(']')) name = trim(name.substr(0, name.rfind('[')));
  const std::size_t blank = name.find_last_of(kBlank);
  return blank == std::string_view::npos ? name : name.substr(blank + 1);
}

// "field:pid_t prev_pid;	offset:24;	size:4;	signed:1;"
std::optional<FieldLayout> parse_field(std::string_view line) {
  constexpr std::string_view kField = "field:";
  line = trim(line);
  if (!line.starts_with(kField)) return std::nullopt;
  line.remove_prefix(kField.size());
  const std::string_view declaration = trim(take(line, ';'));

  FieldLayout field{.name = std::string(name_of(declaration)), .kind = kind_of(declaration)};
  bool has_offset = false, has_size = false;
  while (!line.empty()) {
    std::string_view value = take(line, ';');
    const std::string_view key = trim(take(value, ':'));
    const auto number = parse_number<std::size_t>(value);
    if (!number) continue;
    if (key == "offset") field.offset = *number, has_offset = true;
    if (key == "size") field.size = *number, has_size = true;
    if (key == "signed") field.is_signed = *number != 0;
  }
  if (field.name.empty() || !has_offset || !has_size) return std::nullopt;
  return field;
}

std::vector<FieldLayout> parse_fields(std::string_view text) {
  std::vector<FieldLayout> fields;
  while (!text.empty())
    if (auto field = parse_field(take(text, '\n'))) fields.push_back(*std::move(field));
  return fields;
}

const FieldLayout* find_field(const std::vector<FieldLayout>& fields, std::string_view name) {
  for (const FieldLayout& field : fields)
    if (field.name == name) return &field;
  return nullptr;
}

// "type_len    :    5 bits", "time_extend : type == 30", "data max type_len  == 28"
std::optional<std::uint32_t> number_after(std::string_view text, std::string_view key, std::string_view mark) {
  const auto value = line_value(text, key);
  if (!value) return std::nullopt;
  const std::size_t at = value->find(mark);
  if (at == std::string_view::npos) return std::nullopt;
  return parse_number<std::uint32_t>(value->substr(at + mark.size()));
}

}  // namespace

const FieldLayout* EventFormat::find(std::string_view field) const { return find_field(fields, field); }

std::string_view load_text(const FieldLayout& field, Bytes record) {
  std::size_t offset = field.offset, size = field.size;
  if (field.kind != FieldLayout::Kind::kInline) {
    const auto word = load<std::uint32_t>(record, field.offset);
    if (!word) return {};
    offset = *word & 0xffff;
    size = *word >> 16;
    if (field.kind == FieldLayout::Kind::kRelativeOffset) offset += field.offset + field.size;
  }
  if (offset > record.size()) return {};
  const Bytes bytes = record.subspan(offset, std::min(size, record.size() - offset));
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return text.substr(0, text.find('\0'));
}

std::optional<EventFormat> parse_event_format(std::string_view text) {
  const auto name = line_value(text, "name:");
  const auto id_text = line_value(text, "ID:");
  if (!name || !id_text) return std::nullopt;
  const auto id = parse_number<std::uint16_t>(*id_text);
  EventFormat format{.name = std::string(*name), .id = id.value_or(0), .fields = parse_fields(text)};
  if (!id || format.fields.empty()) return std::nullopt;
  return format;
}

std::optional<PageLayout> parse_page_layout(std::string_view text) {
  const auto fields = parse_fields(text);
  const FieldLayout* timestamp = find_field(fields, "timestamp");
  const FieldLayout* commit = find_field(fields, "commit");
  const FieldLayout* data = find_field(fields, "data");
  if (!timestamp || !commit || !data) return std::nullopt;
  if (timestamp->size != 8 || (commit->size != 4 && commit->size != 8)) return std::nullopt;
  return PageLayout{*timestamp, *commit, *data};
}

std::optional<RecordLayout> parse_record_layout(std::string_view text) {
  const auto type_bits = number_after(text, "type_len", ":");
  const auto delta_bits = number_after(text, "time_delta", ":");
  const auto longest = number_after(text, "data max type_len", "==");
  const auto padding = number_after(text, "padding", "==");
  const auto extend = number_after(text, "time_extend", "==");
  const auto stamp = number_after(text, "time_stamp", "==");
  if (!type_bits || !delta_bits || !longest || !padding || !extend) return std::nullopt;
  // The head is one 32-bit word by design; anything else is a kernel this reader does not know.
  if (*type_bits == 0 || *delta_bits == 0 || *type_bits + *delta_bits != 32) return std::nullopt;
  return RecordLayout{*type_bits, *delta_bits, *longest, *padding, *extend, stamp.value_or(RecordLayout::kNoType)};
}

}  // namespace unjank::ftrace
