// Walks the records of one page of a kernel ring buffer.
//
// Guarantees: no byte outside the page is read, whatever the page holds; each step moves forward, so a walk
// ends. A page that contradicts its layout ends the walk with `malformed()`; the records before it stand.
//
// The kernel's side: include/linux/ring_buffer.h (record types), kernel/trace/ring_buffer.c (page flags).
#pragma once

#include <cstdint>

#include "ftrace/bytes.h"
#include "ftrace/format.h"

namespace unjank::ftrace {

struct Record {
  std::uint64_t timestamp_ns = 0;
  Bytes payload;
};

class PageCursor {
 public:
  PageCursor(const PageLayout& page_layout, const RecordLayout& record_layout, Bytes page);

  // Steps to the next data record. False at the end of the page.
  bool next(Record& record);

  bool malformed() const { return malformed_; }

  // Were events lost between the page before and this one; and how many, 0 where the kernel does not say.
  bool lost_before() const { return lost_before_; }
  std::uint64_t lost_count() const { return lost_count_; }

 private:
  struct Head {
    std::uint32_t type;
    std::uint64_t delta;
  };

  void read_commit(const PageLayout& layout, Bytes page);
  bool take_head(Head& head);
  bool take_word(std::uint32_t& word);
  bool take_payload(std::size_t size, Bytes& payload);
  bool skip_padding(const Head& head);
  bool extend_time(const Head& head);
  bool set_time(const Head& head);
  bool take_record(const Head& head, Record& record);
  bool fail();

  const RecordLayout layout_;
  Bytes data_;  // what is not walked yet
  std::uint64_t now_ns_ = 0;
  std::uint64_t lost_count_ = 0;
  bool lost_before_ = false;
  bool malformed_ = false;
};

}  // namespace unjank::ftrace
