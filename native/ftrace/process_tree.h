// Names for the threads that the scheduler's events know only by number: all live processes and threads, from
// /proc, as ProcessTree packets.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/packet_sink.h"
#include "base/proto_writer.h"

namespace unjank::ftrace {

// A line of /proc/PID/stat or /proc/PID/task/TID/stat, as far as it matters here.
struct ProcStat {
  std::string_view comm;  // may hold blanks and brackets
  int parent = 0;
  std::uint64_t start_ticks = 0;
};

std::optional<ProcStat> parse_proc_stat(std::string_view line);

class ProcessTreeWriter {
 public:
  ProcessTreeWriter(std::string proc, std::uint32_t sequence_id) : proc_(std::move(proc)), sequence_id_(sequence_id) {}

  // Appends what lives now and was not written by an earlier call, and adds its size to `bytes`. False where the
  // sink refused.
  bool write(ProtoWriter& out, PacketSink& sink, std::uint64_t& bytes);

 private:
  // A thread id is used again one day; with its start time it is unique.
  static std::uint64_t key(int tid, std::uint64_t start_ticks);

  std::size_t encode_batch(std::span<const int> pids, ProtoWriter& out);
  void add_process(int pid, ProtoWriter& out);
  void add_thread(int pid, int tid, ProtoWriter& out);
  std::string path(int pid, std::string_view rest) const;

  const std::string proc_;
  const std::uint32_t sequence_id_;
  std::unordered_set<std::uint64_t> processes_, threads_;
};

}  // namespace unjank::ftrace
