#include "ftrace/format.h"

#include <doctest/doctest.h>

#include <string>

#include "page_builder.h"

using namespace unjank::ftrace;
using testing::kHeaderEvent;
using testing::kHeaderPage;

namespace {

constexpr std::string_view kFormat =
    "name: sched_process_free\n"
    "ID: 370\n"
    "format:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
    "\n"
    "\tfield:__data_loc char[] comm;\toffset:8;\tsize:4;\tsigned:0;\n"
    "\tfield:__rel_loc char[] other;\toffset:12;\tsize:4;\tsigned:0;\n"
    "\tfield:char plain[16];\toffset:16;\tsize:16;\tsigned:0;\n"
    "\n"
    "print fmt: \"comm=%s pid=%d\", __get_str(comm), REC->pid\n";

}  // namespace

TEST_CASE("an event's format gives name, id and where each field lies") {
  const auto format = parse_event_format(kFormat);
  REQUIRE(format);
  CHECK(format->name == "sched_process_free");
  CHECK(format->id == 370);
  CHECK(format->fields.size() == 5);
  const FieldLayout* pid = format->find("common_pid");
  REQUIRE(pid);
  CHECK(pid->offset == 4);
  CHECK(pid->size == 4);
  CHECK(pid->is_signed);
  CHECK_FALSE(format->find("pid"));
}

TEST_CASE("arrays and the two indirect kinds of text are told apart") {
  const auto format = parse_event_format(kFormat);
  REQUIRE(format);
  CHECK(format->find("plain")->kind == FieldLayout::Kind::kInline);
  CHECK(format->find("comm")->kind == FieldLayout::Kind::kOffset);
  CHECK(format->find("other")->kind == FieldLayout::Kind::kRelativeOffset);
}

TEST_CASE("a format without name, id or fields is refused") {
  CHECK_FALSE(parse_event_format(""));
  CHECK_FALSE(parse_event_format("name: x\nID: 1\nformat:\n"));
  CHECK_FALSE(parse_event_format("ID: 1\n\tfield:int a;\toffset:0;\tsize:4;\tsigned:1;\n"));
  CHECK_FALSE(parse_event_format("name: x\nID: many\n\tfield:int a;\toffset:0;\tsize:4;\tsigned:1;\n"));
}

TEST_CASE("the page head gives time stamp, commit word and data") {
  const auto layout = parse_page_layout(kHeaderPage);
  REQUIRE(layout);
  CHECK(layout->timestamp.offset == 0);
  CHECK(layout->commit.offset == 8);
  CHECK(layout->commit.size == 8);
  CHECK(layout->data.offset == 16);
  CHECK(layout->page_size() == 4096);
}

TEST_CASE("the page head of a 32-bit kernel has a narrower commit word") {
  const auto layout = parse_page_layout(
      "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
      "\tfield: local_t commit;\toffset:8;\tsize:4;\tsigned:1;\n"
      "\tfield: char data;\toffset:12;\tsize:4084;\tsigned:1;\n");
  REQUIRE(layout);
  CHECK(layout->commit.size == 4);
  CHECK(layout->page_size() == 4096);
}

TEST_CASE("a page head without data is refused") {
  CHECK_FALSE(parse_page_layout(""));
  CHECK_FALSE(parse_page_layout(kHeaderPage.substr(0, kHeaderPage.find("\tfield: char"))));
}

TEST_CASE("the record head gives the widths and the special types") {
  const auto layout = parse_record_layout(kHeaderEvent);
  REQUIRE(layout);
  CHECK(layout->type_bits == 5);
  CHECK(layout->delta_bits == 27);
  CHECK(layout->max_length_type == 28);
  CHECK(layout->padding == 29);
  CHECK(layout->time_extend == 30);
  CHECK(layout->time_stamp == 31);
}

TEST_CASE("a kernel from before absolute time stamps is understood") {
  std::string text(kHeaderEvent);
  text.erase(text.find("\ttime_stamp"), std::string("\ttime_stamp : type == 31\n").size());
  const auto layout = parse_record_layout(text);
  REQUIRE(layout);
  CHECK(layout->time_stamp == RecordLayout::kNoType);
}

TEST_CASE("a record head that is not one 32-bit word is refused") {
  CHECK_FALSE(parse_record_layout(""));
  std::string text(kHeaderEvent);
  text.replace(text.find("27 bits"), 2, "59");
  CHECK_FALSE(parse_record_layout(text));
}
