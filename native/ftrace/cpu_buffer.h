// One CPU's ring buffer, per_cpu/cpuN/trace_pipe_raw, and its batches of pages as FtraceEventBundle packets.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/proto_writer.h"
#include "ftrace/event_encoder.h"
#include "ftrace/file_text.h"
#include "ftrace/format.h"
#include "ftrace/idle_exit.h"
#include "ftrace/sched_layout.h"

namespace unjank::ftrace {

// What the running kernel says about its pages and events.
struct Formats {
  PageLayout page;
  RecordLayout record;
  EventEncoder encoder;
  SchedLayout sched;
};

struct Totals {
  std::uint64_t events = 0;            // written
  std::uint64_t lost_events = 0;       // overwritten or dropped in the ring before they were read
  std::uint64_t skipped_records = 0;   // of a type that was not asked for, or shorter than its format
  std::uint64_t inferred_switches = 0; // out of the idle thread, not reported by the kernel (idle_exit.h)
  std::uint64_t missing_switches = 0;  // not reported, and nothing to infer them from
  std::uint64_t malformed_pages = 0;   // contradicted their layout; what came before the flaw is written
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;
};

// Whole pages as they were read, one slot each. Reused, so memory is bounded whatever the rate.
class PageBatch {
 public:
  PageBatch(std::size_t pages, std::size_t page_size);

  void clear() { sizes_.clear(); }
  bool full() const { return sizes_.size() * page_size_ == storage_.size(); }
  bool empty() const { return sizes_.empty(); }
  std::size_t size() const { return sizes_.size(); }
  std::span<std::byte> free_slot();
  void commit(std::size_t size) { sizes_.push_back(size); }
  Bytes page(std::size_t index) const;

 private:
  std::size_t page_size_;
  std::vector<std::byte> storage_;
  std::vector<std::size_t> sizes_;
};

// Writes a batch's events as packets: a new packet begins where events were lost, because a bundle's
// `lost_events` means before its first event.
class BundleEncoder {
 public:
  BundleEncoder(const Formats& formats, unsigned cpu, std::uint32_t sequence_id, std::uint64_t start_ns)
      : formats_(formats), cpu_(cpu), sequence_id_(sequence_id), last_event_ns_(start_ns) {}

  // `wakings` knows those of this batch and of all that were read along with it.
  void encode(const PageBatch& batch, const WakingLog& wakings, ProtoWriter& out, Totals& totals);

  std::uint64_t missing_switches() const { return idle_exits_.unexplained(); }

 private:
  std::size_t encode_bundle(const PageBatch& batch, std::size_t first, const WakingLog& wakings, ProtoWriter& out,
                            Totals& totals);
  void encode_page(PageCursor& cursor, const WakingLog& wakings, ProtoWriter& out, Totals& totals);

  const Formats& formats_;
  unsigned cpu_;
  std::uint32_t sequence_id_;
  std::uint64_t last_event_ns_;
  IdleExits idle_exits_;
};

// Notes all wake-ups in a batch.
void note_wakings(const PageBatch& batch, const Formats& formats, WakingLog& log);

class CpuBuffer {
 public:
  // Nothing, and `errno`, where the buffer cannot be opened.
  static std::optional<CpuBuffer> open(const std::string& instance, unsigned cpu);

  int fd() const { return fd_.get(); }
  unsigned cpu() const { return cpu_; }

  // Reads pages until the batch is full or the ring is empty; true: there may be more.
  bool read(PageBatch& batch) const;

 private:
  CpuBuffer(OwnFd fd, unsigned cpu) : fd_(std::move(fd)), cpu_(cpu) {}

  OwnFd fd_;
  unsigned cpu_;
};

}  // namespace unjank::ftrace
