#include "ftrace/cpu_buffer.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "ftrace/page.h"
#include "ftrace/trace_fields.h"

namespace unjank::ftrace {

PageBatch::PageBatch(std::size_t pages, std::size_t page_size) : page_size_(page_size), storage_(pages * page_size) {
  sizes_.reserve(pages);
}

std::span<std::byte> PageBatch::free_slot() {
  return std::span(storage_).subspan(sizes_.size() * page_size_, page_size_);
}

Bytes PageBatch::page(std::size_t index) const {
  return Bytes(storage_).subspan(index * page_size_, sizes_[index]);
}

void BundleEncoder::encode(const PageBatch& batch, const WakingLog& wakings, ProtoWriter& out, Totals& totals) {
  for (std::size_t page = 0; page < batch.size();) {
    page = encode_bundle(batch, page, wakings, out, totals);
    ++totals.packets;
  }
}

// From `first` up to the next page that follows a loss; answers that page.
std::size_t BundleEncoder::encode_bundle(const PageBatch& batch, std::size_t first, const WakingLog& wakings,
                                         ProtoWriter& out, Totals& totals) {
  const auto packet = out.message(proto::trace::kPacket);
  out.varint(proto::packet::kSequenceId, sequence_id_);
  const auto bundle = out.message(proto::packet::kFtraceEvents);
  out.varint(proto::bundle::kCpu, cpu_);
  out.varint(proto::bundle::kPreviousBundleEnd, last_event_ns_);
  std::size_t index = first;
  for (; index < batch.size(); ++index) {
    PageCursor cursor(formats_.page, formats_.record, batch.page(index));
    if (cursor.lost_before() && index != first) break;
    if (cursor.lost_before()) {
      out.boolean(proto::bundle::kLostEvents, true);
      idle_exits_.forget();
    }
    encode_page(cursor, wakings, out, totals);
  }
  return index;
}

void BundleEncoder::encode_page(PageCursor& cursor, const WakingLog& wakings, ProtoWriter& out, Totals& totals) {
  Record record;
  while (cursor.next(record)) {
    if (const auto exit = idle_exits_.see(record, formats_.sched, wakings)) {
      write_idle_exit(*exit, cpu_, proto::bundle::kEvent, out);
      ++totals.inferred_switches;
    }
    if (formats_.encoder.encode(record, proto::bundle::kEvent, out) == EventEncoder::Result::kEncoded) {
      ++totals.events;
      last_event_ns_ = record.timestamp_ns;
    } else {
      ++totals.skipped_records;
    }
  }
  if (cursor.malformed()) ++totals.malformed_pages;
}

void note_wakings(const PageBatch& batch, const Formats& formats, WakingLog& log) {
  Record record;
  for (std::size_t index = 0; index < batch.size(); ++index) {
    PageCursor cursor(formats.page, formats.record, batch.page(index));
    while (cursor.next(record))
      if (const auto pid = formats.sched.woken_pid(record.payload)) log.note(*pid, record.timestamp_ns);
  }
}

std::optional<CpuBuffer> CpuBuffer::open(const std::string& instance, unsigned cpu) {
  const std::string path = instance + "/per_cpu/cpu" + std::to_string(cpu) + "/trace_pipe_raw";
  OwnFd fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!fd) return std::nullopt;
  return CpuBuffer(std::move(fd), cpu);
}

bool CpuBuffer::read(PageBatch& batch) const {
  if (!fd_.is_ours()) return false;
  while (!batch.full()) {
    const auto slot = batch.free_slot();
    const ssize_t size = ::read(fd_.get(), slot.data(), slot.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return false;  // empty (EAGAIN), or the CPU is offline
    batch.commit(static_cast<std::size_t>(size));
  }
  return true;
}

}  // namespace unjank::ftrace
