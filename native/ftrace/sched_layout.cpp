#include "ftrace/sched_layout.h"

namespace unjank::ftrace {
namespace {

std::optional<std::int64_t> number(const FieldLayout& field, Bytes payload) {
  return load_integer(payload, field.offset, field.size, field.is_signed);
}

}  // namespace

void SchedLayout::learn(const EventFormat& format) {
  const FieldLayout* type = format.find("common_type");
  if (!type) return;
  type_ = *type;
  if (format.name == "sched_waking" || format.name == "sched_wakeup_new") {
    if (const FieldLayout* pid = format.find("pid")) wakeups_.push_back({format.id, *pid});
  }
  if (format.name != "sched_switch") return;
  const FieldLayout* prev_pid = format.find("prev_pid");
  const FieldLayout* prev_prio = format.find("prev_prio");
  const FieldLayout* next_pid = format.find("next_pid");
  if (!prev_pid || !prev_prio || !next_pid) return;
  switch_id_ = format.id;
  prev_pid_ = *prev_pid;
  prev_prio_ = *prev_prio;
  next_pid_ = *next_pid;
  if (const FieldLayout* comm = format.find("prev_comm")) prev_comm_ = *comm;
}

std::optional<std::int64_t> SchedLayout::type_of(Bytes payload) const {
  return load_integer(payload, type_.offset, type_.size, false);
}

std::optional<SwitchRecord> SchedLayout::as_switch(Bytes payload) const {
  if (!switch_id_ || type_of(payload) != *switch_id_) return std::nullopt;
  const auto prev = number(prev_pid_, payload), prio = number(prev_prio_, payload), next = number(next_pid_, payload);
  if (!prev || !prio || !next) return std::nullopt;
  return SwitchRecord{*prev, *prio, *next, load_text(prev_comm_, payload)};
}

std::optional<std::int64_t> SchedLayout::woken_pid(Bytes payload) const {
  const auto type = type_of(payload);
  for (const Wakeup& wakeup : wakeups_)
    if (type == wakeup.id) return number(wakeup.pid, payload);
  return std::nullopt;
}

}  // namespace unjank::ftrace
