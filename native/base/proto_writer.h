// Append-only protobuf encoder: varints, fixed-width numbers, bytes, nested messages.
//
//   ProtoWriter out;
//   {
//     auto packet = out.message(1);          // closed, and its length written, at the end of the scope
//     out.integer(8, timestamp_ns);
//   }
//   sink.append(out.view());
//
// A nested message's length is back-patched: one byte is set aside for it, and a message that turns out
// longer than 127 bytes is moved up to make room for a wider one. Small messages, the many, so cost no
// padding; large ones, the few, cost one memmove each.
//
// Wire format: https://protobuf.dev/programming-guides/encoding/
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace unjank {

class ProtoWriter {
 public:
  // An open nested message. Closes at the end of its scope; the innermost one closes first.
  class [[nodiscard]] Message {
   public:
    Message(const Message&) = delete;
    Message& operator=(const Message&) = delete;
    ~Message() { writer_.close(start_); }

   private:
    friend class ProtoWriter;
    Message(ProtoWriter& writer, std::size_t start) : writer_(writer), start_(start) {}
    ProtoWriter& writer_;
    const std::size_t start_;
  };

  void varint(std::uint32_t field, std::uint64_t value) {
    tag(field, kVarint);
    append_varint(value);
  }

  // int32, int64, enum: negative numbers are sign-extended to 64 bits, as the wire format has it.
  void integer(std::uint32_t field, std::int64_t value) { varint(field, static_cast<std::uint64_t>(value)); }

  void boolean(std::uint32_t field, bool value) { varint(field, value ? 1 : 0); }

  void fixed32(std::uint32_t field, std::uint32_t value) {
    tag(field, kFixed32);
    append_little_endian(value);
  }

  void fixed64(std::uint32_t field, std::uint64_t value) {
    tag(field, kFixed64);
    append_little_endian(value);
  }

  void number(std::uint32_t field, double value) { fixed64(field, std::bit_cast<std::uint64_t>(value)); }

  void text(std::uint32_t field, std::string_view value) {
    bytes(field, std::as_bytes(std::span(value.data(), value.size())));
  }

  void bytes(std::uint32_t field, std::span<const std::byte> value) {
    tag(field, kLengthDelimited);
    append_varint(value.size());
    buffer_.insert(buffer_.end(), value.begin(), value.end());
  }

  Message message(std::uint32_t field) {
    tag(field, kLengthDelimited);
    buffer_.push_back(std::byte{0});
    return Message(*this, buffer_.size());
  }

  std::span<const std::byte> view() const { return buffer_; }
  std::size_t size() const { return buffer_.size(); }
  bool empty() const { return buffer_.empty(); }
  void reserve(std::size_t size) { buffer_.reserve(size); }

  // Forgets the content and keeps the memory. No message may be open.
  void clear() { buffer_.clear(); }

 private:
  enum WireType : std::uint32_t { kVarint = 0, kFixed64 = 1, kLengthDelimited = 2, kFixed32 = 5 };
  static constexpr std::size_t kMaxVarint = 10;

  static std::size_t encode_varint(std::uint64_t value, std::byte (&out)[kMaxVarint]) {
    std::size_t size = 0;
    for (; value >= 0x80; value >>= 7) out[size++] = static_cast<std::byte>(value | 0x80);
    out[size++] = static_cast<std::byte>(value);
    return size;
  }

  void tag(std::uint32_t field, WireType type) { append_varint(std::uint64_t{field} << 3 | type); }

  void append_varint(std::uint64_t value) {
    if (value < 0x80) {
      buffer_.push_back(static_cast<std::byte>(value));
      return;
    }
    std::byte encoded[kMaxVarint];
    const std::size_t size = encode_varint(value, encoded);
    buffer_.insert(buffer_.end(), encoded, encoded + size);
  }

  template <class Unsigned>
  void append_little_endian(Unsigned value) {
    for (std::size_t i = 0; i < sizeof value; ++i) buffer_.push_back(static_cast<std::byte>(value >> (8 * i)));
  }

  void close(std::size_t start) {
    std::byte encoded[kMaxVarint];
    const std::size_t size = encode_varint(buffer_.size() - start, encoded);
    buffer_.insert(buffer_.begin() + static_cast<std::ptrdiff_t>(start), encoded + 1, encoded + size);
    buffer_[start - 1] = encoded[0];
  }

  std::vector<std::byte> buffer_;
};

}  // namespace unjank
