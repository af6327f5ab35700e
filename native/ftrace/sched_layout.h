// The few fields of the scheduler's events that the reader itself looks at.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "ftrace/bytes.h"
#include "ftrace/format.h"

namespace unjank::ftrace {

struct SwitchRecord {
  std::int64_t prev_pid;
  std::int64_t prev_prio;
  std::int64_t next_pid;
  std::string_view prev_comm;  // into the record
};

class SchedLayout {
 public:
  // Takes what it needs of sched_switch, sched_waking and sched_wakeup_new; other formats are none of its concern.
  void learn(const EventFormat& format);

  // Nothing where the record is another event, or too short.
  std::optional<SwitchRecord> as_switch(Bytes payload) const;
  std::optional<std::int64_t> woken_pid(Bytes payload) const;

 private:
  struct Wakeup {
    std::uint16_t id;
    FieldLayout pid;
  };

  std::optional<std::int64_t> type_of(Bytes payload) const;

  FieldLayout type_;
  std::optional<std::uint16_t> switch_id_;
  FieldLayout prev_pid_, prev_prio_, next_pid_, prev_comm_;
  std::vector<Wakeup> wakeups_;
};

}  // namespace unjank::ftrace
