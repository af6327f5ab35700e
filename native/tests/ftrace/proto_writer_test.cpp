#include "base/proto_writer.h"

#include <doctest/doctest.h>

#include <string>

using unjank::ProtoWriter;

namespace {

std::string hex(const ProtoWriter& writer) {
  std::string out;
  for (std::byte byte : writer.view()) {
    static const char kDigits[] = "0123456789abcdef";
    out += kDigits[std::to_integer<int>(byte) >> 4];
    out += kDigits[std::to_integer<int>(byte) & 15];
  }
  return out;
}

}  // namespace

TEST_CASE("a varint is little-endian in groups of seven bits") {
  ProtoWriter out;
  out.varint(1, 150);  // the wire format's own example
  CHECK(hex(out) == "089601");
}

TEST_CASE("a negative integer takes ten bytes, sign-extended") {
  ProtoWriter out;
  out.integer(2, -1);
  CHECK(hex(out) == "10ffffffffffffffffff01");
}

TEST_CASE("a field number above 15 takes a second tag byte") {
  ProtoWriter out;
  out.boolean(236, true);
  CHECK(hex(out) == "e00e01");
}

TEST_CASE("text and bytes carry their length") {
  ProtoWriter out;
  out.text(2, "testing");
  CHECK(hex(out) == "120774657374696e67");
}

TEST_CASE("fixed-width numbers are little-endian") {
  ProtoWriter out;
  out.fixed32(1, 0x01020304);
  out.fixed64(1, 0x0102030405060708);
  out.number(1, 1.0);
  CHECK(hex(out) == "0d04030201" "090807060504030201" "09000000000000f03f");
}

TEST_CASE("an empty nested message has length zero") {
  ProtoWriter out;
  { auto message = out.message(3); }
  CHECK(hex(out) == "1a00");
}

TEST_CASE("a nested message's length is patched at the end of its scope") {
  ProtoWriter out;
  {
    auto message = out.message(3);
    out.varint(1, 150);
  }
  out.varint(1, 1);
  CHECK(hex(out) == "1a03089601" "0801");
}

TEST_CASE("nested messages of 127, 128 and 16384 bytes take one, two and three length bytes") {
  for (const auto& [size, length] : {std::pair{125, "7f"}, {126, "8001"}, {16381, "808001"}}) {
    ProtoWriter out;
    {
      auto message = out.message(1);
      out.text(1, std::string(size, 'x'));
    }
    CHECK(hex(out).substr(2, std::string(length).size()) == length);
  }
}

TEST_CASE("an inner message that grows keeps the outer one's length right") {
  ProtoWriter out;
  {
    auto outer = out.message(1);
    auto inner = out.message(2);
    out.text(3, std::string(200, 'x'));
  }
  CHECK(hex(out).substr(0, 16) == "0ace0112cb011ac8");
  CHECK(out.size() == 3 + 206);
}

TEST_CASE("clear forgets the content") {
  ProtoWriter out;
  out.varint(1, 1);
  out.clear();
  CHECK(out.empty());
}
