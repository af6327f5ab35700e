#include "ftrace/idle_exit.h"

#include <algorithm>
#include <string>
#include <utility>

#include "ftrace/trace_fields.h"

namespace unjank::ftrace {
namespace {

constexpr std::int64_t kIdlePid = 0;
constexpr std::int64_t kIdlePrio = 120;  // as the kernel reports its idle threads
constexpr std::int64_t kRunnable = 0;

}  // namespace

void WakingLog::begin_round() {
  std::swap(current_, previous_);
  current_.clear();
}

void WakingLog::end_round() { std::ranges::sort(current_); }

// `entries` is sorted by thread, then by time.
std::optional<std::uint64_t> WakingLog::find_in(const std::vector<Entry>& entries, const Entry& before) {
  const auto next = std::ranges::lower_bound(entries, before);
  if (next == entries.begin() || std::prev(next)->pid != before.pid) return std::nullopt;
  return std::prev(next)->time_ns;
}

std::optional<std::uint64_t> WakingLog::find(std::int64_t pid, std::uint64_t after_ns, std::uint64_t before_ns) const {
  // A thread is woken once before it runs; should both rounds know it, the later time is the one.
  const auto found = std::max(find_in(current_, {pid, before_ns}), find_in(previous_, {pid, before_ns}));
  return found && *found > after_ns ? found : std::nullopt;
}

std::optional<IdleExits::Inferred> IdleExits::see(const Record& record, const SchedLayout& layout,
                                                  const WakingLog& wakings) {
  const auto now = layout.as_switch(record.payload);
  if (!now) return std::nullopt;
  const auto believed = std::exchange(running_, now->next_pid);
  const std::uint64_t since_ns = std::exchange(since_ns_, record.timestamp_ns);
  if (!believed || *believed == now->prev_pid) return std::nullopt;
  if (*believed == kIdlePid)
    if (const auto woken = wakings.find(now->prev_pid, since_ns, record.timestamp_ns))
      return Inferred{*woken + 1, *now};  // after the wake-up, not at the same time
  ++unexplained_;
  return std::nullopt;
}

void write_idle_exit(const IdleExits::Inferred& exit, unsigned cpu, std::uint32_t field, ProtoWriter& out) {
  const auto event = out.message(field);
  out.varint(proto::event::kTimestamp, exit.time_ns);
  out.integer(proto::event::kPid, kIdlePid);
  const auto body = out.message(proto::event::kSchedSwitch);
  out.text(proto::sched_switch::kPrevComm, "swapper/" + std::to_string(cpu));
  out.integer(proto::sched_switch::kPrevPid, kIdlePid);
  out.integer(proto::sched_switch::kPrevPrio, kIdlePrio);
  out.integer(proto::sched_switch::kPrevState, kRunnable);
  out.text(proto::sched_switch::kNextComm, exit.revealed_by.prev_comm);
  out.integer(proto::sched_switch::kNextPid, exit.revealed_by.prev_pid);
  out.integer(proto::sched_switch::kNextPrio, exit.revealed_by.prev_prio);
}

}  // namespace unjank::ftrace
