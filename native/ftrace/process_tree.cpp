#include "ftrace/process_tree.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "ftrace/boot_time.h"
#include "ftrace/file_text.h"
#include "ftrace/trace_fields.h"

namespace unjank::ftrace {
namespace {

constexpr std::size_t kPacketSize = 256 * 1024;
constexpr std::size_t kCmdlineLimit = 4096;
constexpr int kParentField = 4, kStartTimeField = 22;  // proc_pid_stat(5)
constexpr int kTidBits = 22;                           // PID_MAX_LIMIT of 64-bit kernels

std::optional<int> parse_id(std::string_view text) {
  int id = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), id);
  if (result.ec != std::errc{} || result.ptr != text.data() + text.size() || id <= 0) return std::nullopt;
  return id;
}

// The numeric entries of a folder of /proc; none where it is gone.
std::vector<int> list_ids(const std::string& folder) {
  std::vector<int> ids;
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (const auto id = parse_id(it->path().filename().native())) ids.push_back(*id);
  std::ranges::sort(ids);
  return ids;
}

template <class Number>
Number number_or_zero(std::string_view text) {
  Number number{};
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

std::optional<ProcStat> parse_proc_stat(std::string_view line) {
  const std::size_t open = line.find('('), close = line.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return std::nullopt;
  ProcStat stat{.comm = line.substr(open + 1, close - open - 1)};
  std::string_view rest = line.substr(close + 1);
  int field = 2;  // the name was field 2
  while (!rest.empty() && field < kStartTimeField) {
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    const std::string_view word = rest.substr(0, rest.find_first_of(" \n"));
    ++field;
    if (field == kParentField) stat.parent = number_or_zero<int>(word);
    if (field == kStartTimeField) stat.start_ticks = number_or_zero<std::uint64_t>(word);
    rest.remove_prefix(word.size());
  }
  if (field < kStartTimeField) return std::nullopt;
  return stat;
}

std::uint64_t ProcessTreeWriter::key(int tid, std::uint64_t start_ticks) {
  return start_ticks << kTidBits | static_cast<std::uint64_t>(tid);
}

std::string ProcessTreeWriter::path(int pid, std::string_view rest) const {
  return (proc_ + '/' + std::to_string(pid) + '/').append(rest);
}

bool ProcessTreeWriter::write(ProtoWriter& out, PacketSink& sink, std::uint64_t& bytes) {
  const std::vector<int> pids = list_ids(proc_);
  for (std::span<const int> rest(pids); !rest.empty();) {
    out.clear();
    rest = rest.subspan(encode_batch(rest, out));
    if (!sink.append(out.view())) return false;
    bytes += out.size();
  }
  return true;
}

// One packet of bounded size; answers how many processes went into it.
std::size_t ProcessTreeWriter::encode_batch(std::span<const int> pids, ProtoWriter& out) {
  const auto packet = out.message(proto::trace::kPacket);
  out.varint(proto::packet::kSequenceId, sequence_id_);
  std::size_t count = 0;
  {
    const auto tree = out.message(proto::packet::kProcessTree);
    while (count < pids.size() && out.size() < kPacketSize) add_process(pids[count++], out);
  }
  // Stamped last: a reader would take a thread that is named before the event of its birth for two threads.
  out.varint(proto::packet::kTimestamp, boot_time_ns());
  return count;
}

// A process may be gone at any step: then it is left out, or named by what was still there.
void ProcessTreeWriter::add_process(int pid, ProtoWriter& out) {
  const auto line = read_text(path(pid, "stat"));
  const auto stat = line ? parse_proc_stat(*line) : std::nullopt;
  if (!stat) return;
  if (processes_.insert(key(pid, stat->start_ticks)).second) {
    const std::string cmdline = read_text(path(pid, "cmdline"), kCmdlineLimit).value_or("");
    const auto process = out.message(proto::process_tree::kProcesses);
    out.integer(proto::process_tree::kProcessPid, pid);
    out.integer(proto::process_tree::kProcessPpid, stat->parent);
    for (std::string_view rest = cmdline; !rest.empty();) {
      const std::string_view argument = rest.substr(0, rest.find('\0'));
      out.text(proto::process_tree::kProcessCmdline, argument);
      rest.remove_prefix(std::min(argument.size() + 1, rest.size()));
    }
    if (cmdline.empty()) {  // a kernel thread
      out.text(proto::process_tree::kProcessCmdline, stat->comm);
      out.boolean(proto::process_tree::kProcessCmdlineIsComm, true);
    }
  }
  for (const int tid : list_ids(path(pid, "task"))) add_thread(pid, tid, out);
}

void ProcessTreeWriter::add_thread(int pid, int tid, ProtoWriter& out) {
  const auto line = read_text(path(pid, "task/" + std::to_string(tid) + "/stat"));
  const auto stat = line ? parse_proc_stat(*line) : std::nullopt;
  if (!stat || !threads_.insert(key(tid, stat->start_ticks)).second) return;
  const auto thread = out.message(proto::process_tree::kThreads);
  out.integer(proto::process_tree::kThreadTid, tid);
  out.text(proto::process_tree::kThreadName, stat->comm);
  out.integer(proto::process_tree::kThreadTgid, pid);
}

}  // namespace unjank::ftrace
