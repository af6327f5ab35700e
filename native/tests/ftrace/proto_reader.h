// Just enough of a protobuf decoder to look into what was written.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "ftrace/bytes.h"

namespace unjank::ftrace::testing {

struct ProtoField {
  std::uint32_t number = 0;
  std::uint64_t value = 0;  // of a varint
  Bytes bytes;              // of a nested message or text

  std::string_view text() const { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
};

inline std::uint64_t take_varint(Bytes& bytes) {
  std::uint64_t value = 0;
  for (int shift = 0; !bytes.empty(); shift += 7) {
    const auto byte = std::to_integer<std::uint64_t>(bytes.front());
    bytes = bytes.subspan(1);
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  return value;
}

inline std::vector<ProtoField> fields(Bytes bytes) {
  std::vector<ProtoField> out;
  while (!bytes.empty()) {
    const std::uint64_t tag = take_varint(bytes);
    ProtoField field{.number = static_cast<std::uint32_t>(tag >> 3), .value = take_varint(bytes), .bytes = {}};
    if ((tag & 7) == 2) {
      field.bytes = bytes.first(field.value);
      bytes = bytes.subspan(field.value);
    }
    out.push_back(field);
  }
  return out;
}

inline std::vector<ProtoField> all(Bytes bytes, std::uint32_t number) {
  std::vector<ProtoField> out;
  for (const ProtoField& field : fields(bytes))
    if (field.number == number) out.push_back(field);
  return out;
}

// The first field of that number; one of number 0 where there is none.
inline ProtoField first(Bytes bytes, std::uint32_t number) {
  const auto found = all(bytes, number);
  return found.empty() ? ProtoField{} : found.front();
}

}  // namespace unjank::ftrace::testing
