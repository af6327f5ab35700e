#include "ftrace/event_encoder.h"

#include <algorithm>
#include <array>

#include "ftrace/trace_fields.h"

namespace unjank::ftrace {
namespace {

enum class Need : std::uint8_t { kRequired, kOptional };
enum class Form : std::uint8_t { kNumber, kText };

struct FieldRule {
  std::string_view kernel_name;
  proto::Number number;
  Form form = Form::kNumber;
  Need need = Need::kRequired;
};

struct EventRule {
  KnownEvent event;
  proto::Number number;
  std::span<const FieldRule> fields;
};

constexpr FieldRule kSwitchFields[] = {
    {"prev_comm", proto::sched_switch::kPrevComm, Form::kText, Need::kOptional},
    {"prev_pid", proto::sched_switch::kPrevPid},
    {"prev_prio", proto::sched_switch::kPrevPrio},
    {"prev_state", proto::sched_switch::kPrevState},
    {"next_comm", proto::sched_switch::kNextComm, Form::kText, Need::kOptional},
    {"next_pid", proto::sched_switch::kNextPid},
    {"next_prio", proto::sched_switch::kNextPrio},
};

constexpr FieldRule kWakeupFields[] = {
    {"comm", proto::sched_wakeup::kComm, Form::kText, Need::kOptional},
    {"pid", proto::sched_wakeup::kPid},
    {"prio", proto::sched_wakeup::kPrio},
    {"target_cpu", proto::sched_wakeup::kTargetCpu},
};

constexpr FieldRule kNewtaskFields[] = {
    {"pid", proto::task_newtask::kPid},
    {"comm", proto::task_newtask::kComm, Form::kText},
    {"clone_flags", proto::task_newtask::kCloneFlags},
    {"oom_score_adj", proto::task_newtask::kOomScoreAdj, Form::kNumber, Need::kOptional},
};

constexpr FieldRule kRenameFields[] = {
    {"pid", proto::task_rename::kPid},
    {"oldcomm", proto::task_rename::kOldComm, Form::kText, Need::kOptional},
    {"newcomm", proto::task_rename::kNewComm, Form::kText},
    {"oom_score_adj", proto::task_rename::kOomScoreAdj, Form::kNumber, Need::kOptional},
};

constexpr FieldRule kExitFields[] = {
    {"comm", proto::sched_process_exit::kComm, Form::kText, Need::kOptional},
    {"pid", proto::sched_process_exit::kPid},
    {"prio", proto::sched_process_exit::kPrio, Form::kNumber, Need::kOptional},
};

constexpr std::array kRules = {
    EventRule{{"sched", "sched_switch", true}, proto::event::kSchedSwitch, kSwitchFields},
    EventRule{{"sched", "sched_waking", true}, proto::event::kSchedWaking, kWakeupFields},
    EventRule{{"sched", "sched_wakeup_new", false}, proto::event::kSchedWakeupNew, kWakeupFields},
    EventRule{{"sched", "sched_process_exit", false}, proto::event::kSchedProcessExit, kExitFields},
    EventRule{{"task", "task_newtask", false}, proto::event::kTaskNewtask, kNewtaskFields},
    EventRule{{"task", "task_rename", false}, proto::event::kTaskRename, kRenameFields},
};

constexpr auto kKnownEvents = [] {
  std::array<KnownEvent, kRules.size()> events{};
  for (std::size_t i = 0; i < kRules.size(); ++i) events[i] = kRules[i].event;
  return events;
}();

const EventRule* find_rule(std::string_view name) {
  for (const EventRule& rule : kRules)
    if (rule.event.name == name) return &rule;
  return nullptr;
}

bool is_number(const FieldLayout& layout) {
  return layout.kind == FieldLayout::Kind::kInline &&
         (layout.size == 1 || layout.size == 2 || layout.size == 4 || layout.size == 8);
}

}  // namespace

std::span<const KnownEvent> known_events() { return kKnownEvents; }

bool EventEncoder::add(const EventFormat& format) {
  const EventRule* rule = find_rule(format.name);
  const FieldLayout* type = format.find("common_type");
  const FieldLayout* pid = format.find("common_pid");
  if (!rule || !type || !pid || !is_number(*type) || !is_number(*pid)) return false;

  EncodedEvent event{.id = format.id, .number = rule->number, .min_size = 0, .fields = {}};
  for (const FieldRule& field : rule->fields) {
    const FieldLayout* layout = format.find(field.kernel_name);
    const bool is_text = field.form == Form::kText;
    const bool usable = layout && (is_text || is_number(*layout));
    if (!usable && field.need == Need::kRequired) return false;
    if (!usable) continue;
    event.min_size = std::max(event.min_size, layout->offset + layout->size);
    event.fields.push_back({*layout, field.number, is_text});
  }
  if (events_.empty()) type_ = *type, pid_ = *pid;
  events_.push_back(std::move(event));
  return true;
}

const EventEncoder::EncodedEvent* EventEncoder::find(std::uint16_t id) const {
  for (const EncodedEvent& event : events_)
    if (event.id == id) return &event;
  return nullptr;
}

void EventEncoder::encode_field(const EncodedField& field, Bytes payload, ProtoWriter& out) const {
  const FieldLayout& layout = field.layout;
  if (field.is_text) {
    out.text(field.number, load_text(layout, payload));
  } else if (const auto value = load_integer(payload, layout.offset, layout.size, layout.is_signed)) {
    out.integer(field.number, *value);
  }
}

EventEncoder::Result EventEncoder::encode(const Record& record, std::uint32_t field, ProtoWriter& out) const {
  const auto id = load_integer(record.payload, type_.offset, type_.size, false);
  const auto pid = load_integer(record.payload, pid_.offset, pid_.size, pid_.is_signed);
  if (!id || !pid) return Result::kTooShort;
  const EncodedEvent* known = find(static_cast<std::uint16_t>(*id));
  if (!known) return Result::kUnknownEvent;
  if (record.payload.size() < known->min_size) return Result::kTooShort;

  const auto event = out.message(field);
  out.varint(proto::event::kTimestamp, record.timestamp_ns);
  out.integer(proto::event::kPid, *pid);
  const auto body = out.message(known->number);
  for (const EncodedField& part : known->fields) encode_field(part, record.payload, out);
  return Result::kEncoded;
}

}  // namespace unjank::ftrace
