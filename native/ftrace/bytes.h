// Bounds-checked reads in the machine's own byte order, as the kernel wrote them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace unjank::ftrace {

using Bytes = std::span<const std::byte>;

template <class Number>
std::optional<Number> load(Bytes bytes, std::size_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(Number)) return std::nullopt;
  Number number;
  std::memcpy(&number, bytes.data() + offset, sizeof number);
  return number;
}

// A number of 1, 2, 4 or 8 bytes, widened with or without its sign.
inline std::optional<std::int64_t> load_integer(Bytes bytes, std::size_t offset, std::size_t size, bool is_signed) {
  const auto widen = [&]<class Signed, class Unsigned>(Signed, Unsigned) -> std::optional<std::int64_t> {
    const auto raw = load<Unsigned>(bytes, offset);
    if (!raw) return std::nullopt;
    return is_signed ? static_cast<std::int64_t>(static_cast<Signed>(*raw)) : static_cast<std::int64_t>(*raw);
  };
  switch (size) {
    case 1: return widen(std::int8_t{}, std::uint8_t{});
    case 2: return widen(std::int16_t{}, std::uint16_t{});
    case 4: return widen(std::int32_t{}, std::uint32_t{});
    case 8: return widen(std::int64_t{}, std::uint64_t{});
    default: return std::nullopt;
  }
}

}  // namespace unjank::ftrace
