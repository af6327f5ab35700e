// Finds where a CPU left its idle thread without the kernel saying so.
//
// Some virtual machines never report the switch from a CPU's idle thread to the next one: the trace then says
// "runnable" of a thread that ran the whole time, and "idle" of a CPU that was busy. The next switch on that CPU gives
// it away, since it is made by a thread other than the one that is known to run. The thread was woken while the
// CPU was idle, so it ran from its wake-up on, give or take the tens of microseconds that an idle CPU needs.
//
// Nothing else is inferred: without such a wake-up, or with any thread but the idle one, the gap stays and is counted.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/proto_writer.h"
#include "ftrace/page.h"
#include "ftrace/sched_layout.h"

namespace unjank::ftrace {

// When each thread was woken: in the batches of this round, of all CPUs, and in those of the round before.
class WakingLog {
 public:
  void begin_round();
  void note(std::int64_t pid, std::uint64_t time_ns) { current_.push_back({pid, time_ns}); }
  void end_round();

  // The last time the thread was woken in the open interval; nothing where it was not.
  std::optional<std::uint64_t> find(std::int64_t pid, std::uint64_t after_ns, std::uint64_t before_ns) const;

 private:
  struct Entry {
    std::int64_t pid;
    std::uint64_t time_ns;
    auto operator<=>(const Entry&) const = default;
  };
  static std::optional<std::uint64_t> find_in(const std::vector<Entry>& entries, const Entry& before);

  std::vector<Entry> current_, previous_;
};

// Follows one CPU's switches.
class IdleExits {
 public:
  struct Inferred {
    std::uint64_t time_ns;
    SwitchRecord revealed_by;
  };

  // The switch out of the idle thread that must have come before this record; nothing where all is as reported.
  std::optional<Inferred> see(const Record& record, const SchedLayout& layout, const WakingLog& wakings);

  // Events were lost: whatever ran before them, something else may run now.
  void forget() { running_.reset(); }

  std::uint64_t unexplained() const { return unexplained_; }

 private:
  std::optional<std::int64_t> running_;
  std::uint64_t since_ns_ = 0;
  std::uint64_t unexplained_ = 0;
};

// As a sched_switch event, the `field` of the message that is open.
void write_idle_exit(const IdleExits::Inferred& exit, unsigned cpu, std::uint32_t field, ProtoWriter& out);

}  // namespace unjank::ftrace
