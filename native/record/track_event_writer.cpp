#include "record/track_event_writer.h"

#include <utility>

namespace unjank::record {

namespace {

// Trace
constexpr std::uint32_t kPacket = 1;
// TracePacket
constexpr std::uint32_t kTimestamp = 8;
constexpr std::uint32_t kSequenceId = 10;
constexpr std::uint32_t kTrackEvent = 11;
constexpr std::uint32_t kInternedData = 12;
constexpr std::uint32_t kSequenceFlags = 13;
constexpr std::uint32_t kTrackDescriptor = 60;
constexpr std::uint32_t kFirstPacketOnSequence = 87;
constexpr std::uint64_t kFlagStateCleared = 1;
constexpr std::uint64_t kFlagNeedsState = 2;
constexpr std::uint32_t kProcessTree = 2;
// ProcessTree and its Process
constexpr std::uint32_t kTreeProcesses = 1;
constexpr std::uint32_t kTreePid = 1;
constexpr std::uint32_t kTreeParentPid = 2;
constexpr std::uint32_t kTreeCommandLine = 3;
// TrackDescriptor
constexpr std::uint32_t kUuid = 1;
constexpr std::uint32_t kProcess = 3;
constexpr std::uint32_t kThread = 4;
constexpr std::uint32_t kTrackName = 2;
constexpr std::uint32_t kParentUuid = 5;
constexpr std::uint32_t kCounter = 8;
// CounterDescriptor
constexpr std::uint32_t kUnit = 3;
constexpr std::uint64_t kUnitCount = 2;
// ProcessDescriptor, ThreadDescriptor
constexpr std::uint32_t kPid = 1;
constexpr std::uint32_t kCommandLine = 2;
constexpr std::uint32_t kProcessName = 6;
constexpr std::uint32_t kTid = 2;
constexpr std::uint32_t kThreadName = 5;
// InternedData
constexpr std::uint32_t kEventCategories = 1;
constexpr std::uint32_t kEventNames = 2;
constexpr std::uint32_t kDebugAnnotationNames = 3;
constexpr std::uint32_t kDebugAnnotationStrings = 29;
constexpr std::uint32_t kInternedId = 1;
constexpr std::uint32_t kInternedText = 2;
// TrackEvent
constexpr std::uint32_t kCategoryIds = 3;
constexpr std::uint32_t kDebugAnnotations = 4;
constexpr std::uint32_t kType = 9;
constexpr std::uint32_t kNameId = 10;
constexpr std::uint32_t kTrackUuid = 11;
constexpr std::uint32_t kCounterValue = 30;
constexpr std::uint32_t kFlowIds = 47;
constexpr std::uint32_t kTerminatingFlowIds = 48;
// DebugAnnotation
constexpr std::uint32_t kAnnotationNameId = 1;
constexpr std::uint32_t kAnnotationInt = 4;
constexpr std::uint32_t kAnnotationStringId = 17;

constexpr std::string_view kCategoryNames[] = {"lock", "wait", "unjank", "mq"};

void write_interned_entry(ProtoWriter& out, std::uint32_t field, std::uint64_t id, std::string_view text) {
  const auto entry = out.message(field);
  out.varint(kInternedId, id);
  out.text(kInternedText, text);
}

void write_argument(ProtoWriter& out, const TrackEvent::Argument& argument) {
  const auto annotation = out.message(kDebugAnnotations);
  out.varint(kAnnotationNameId, argument.key);
  out.varint(argument.is_text ? kAnnotationStringId : kAnnotationInt, argument.value);
}

}  // namespace

std::uint64_t TrackEventWriter::Interner::intern(std::string_view text) {
  if (const auto known = ids_.find(text); known != ids_.end()) return known->second;
  const std::uint64_t id = ids_.size() + 1;
  ids_.emplace(text, id);
  constexpr std::size_t kEntry = 96;  // the map's node and slot, the string's head
  bytes_ += text.size() + kEntry;
  fresh_.emplace_back(id, text);
  return id;
}

void TrackEventWriter::Interner::forget() {
  ids_.clear();
  fresh_.clear();
  bytes_ = 0;
}

void TrackEventWriter::Interner::write_new(ProtoWriter& out, std::uint32_t field) {
  for (const auto& [id, text] : fresh_) write_interned_entry(out, field, id, text);
  fresh_.clear();
}

TrackEventWriter::TrackEventWriter(std::uint32_t sequence, std::vector<std::string_view> keys)
    : sequence_(sequence), fixed_keys_(std::move(keys)) {
  start_state();
}

void TrackEventWriter::start_state() {
  names_.forget();
  keys_.forget();
  texts_.forget();
  for (const std::string_view key : fixed_keys_) keys_.intern(key);
  state_cleared_ = categories_new_ = true;
}

bool TrackEventWriter::limit_interned_state() {
  if (names_.bytes() + keys_.bytes() + texts_.bytes() < kMaxInterned) return false;
  start_state();
  return true;
}

void TrackEventWriter::write_sequence(bool needs_state) {
  out_.varint(kSequenceId, sequence_);
  const std::uint64_t flags = (state_cleared_ ? kFlagStateCleared : 0) | (needs_state ? kFlagNeedsState : 0);
  if (flags != 0) out_.varint(kSequenceFlags, flags);
  if (first_packet_) out_.boolean(kFirstPacketOnSequence, true);
  state_cleared_ = first_packet_ = false;
}

void TrackEventWriter::describe_process(std::int64_t ts_ns, std::uint64_t track, std::int32_t pid, std::string_view name,
                                        const std::vector<std::string>& command_line) {
  const auto packet = out_.message(kPacket);
  out_.varint(kTimestamp, static_cast<std::uint64_t>(ts_ns));
  write_sequence(false);
  const auto descriptor = out_.message(kTrackDescriptor);
  out_.varint(kUuid, track);
  const auto process = out_.message(kProcess);
  out_.integer(kPid, pid);
  for (const std::string& argument : command_line) out_.text(kCommandLine, argument);
  out_.text(kProcessName, name);
}

void TrackEventWriter::name_process(std::int64_t ts_ns, std::int32_t pid, std::int32_t parent_pid,
                                    std::string_view name, const std::vector<std::string>& command_line) {
  const auto packet = out_.message(kPacket);
  out_.varint(kTimestamp, static_cast<std::uint64_t>(ts_ns));
  write_sequence(false);
  const auto tree = out_.message(kProcessTree);
  const auto process = out_.message(kTreeProcesses);
  out_.integer(kTreePid, pid);
  out_.integer(kTreeParentPid, parent_pid);
  out_.text(kTreeCommandLine, name);  // the first word is what readers call the process
  for (std::size_t i = 1; i < command_line.size(); ++i) out_.text(kTreeCommandLine, command_line[i]);
}

void TrackEventWriter::describe_thread(std::int64_t ts_ns, std::uint64_t track, std::uint64_t parent, std::int32_t pid,
                                       std::int32_t tid, std::string_view name) {
  const auto packet = out_.message(kPacket);
  out_.varint(kTimestamp, static_cast<std::uint64_t>(ts_ns));
  write_sequence(false);
  const auto descriptor = out_.message(kTrackDescriptor);
  out_.varint(kUuid, track);
  out_.varint(kParentUuid, parent);
  const auto thread = out_.message(kThread);
  out_.integer(kPid, pid);
  out_.integer(kTid, tid);
  out_.text(kThreadName, name);
}

void TrackEventWriter::describe_counter(std::int64_t ts_ns, std::uint64_t track, std::uint64_t parent,
                                        std::string_view name) {
  const auto packet = out_.message(kPacket);
  out_.varint(kTimestamp, static_cast<std::uint64_t>(ts_ns));
  write_sequence(false);
  const auto descriptor = out_.message(kTrackDescriptor);
  out_.varint(kUuid, track);
  out_.text(kTrackName, name);
  out_.varint(kParentUuid, parent);
  const auto counter = out_.message(kCounter);
  out_.varint(kUnit, kUnitCount);
}

void TrackEventWriter::write_interned() {
  if (!categories_new_ && !names_.has_new() && !keys_.has_new() && !texts_.has_new()) return;
  const auto data = out_.message(kInternedData);
  if (categories_new_) {
    std::uint64_t id = 1;
    for (const std::string_view name : kCategoryNames) write_interned_entry(out_, kEventCategories, id++, name);
    categories_new_ = false;
  }
  names_.write_new(out_, kEventNames);
  keys_.write_new(out_, kDebugAnnotationNames);
  texts_.write_new(out_, kDebugAnnotationStrings);
}

void TrackEventWriter::write(const TrackEvent& event) {
  const auto packet = out_.message(kPacket);
  out_.varint(kTimestamp, static_cast<std::uint64_t>(event.ts_ns));
  write_sequence(true);
  write_interned();
  const auto track_event = out_.message(kTrackEvent);
  out_.varint(kType, event.type);
  out_.varint(kTrackUuid, event.track);
  if (event.type != TrackEvent::kSliceEnd) write_description(event);
  for (const TrackEvent::Argument& argument : event.arguments) write_argument(out_, argument);
}

void TrackEventWriter::write_description(const TrackEvent& event) {
  out_.varint(kCategoryIds, static_cast<std::uint64_t>(event.category));
  if (event.type == TrackEvent::kCounter) {
    out_.integer(kCounterValue, event.counter);
    return;
  }
  out_.varint(kNameId, event.name);
  if (event.flow == 0) return;
  out_.fixed64(event.type == TrackEvent::kSliceBegin ? kTerminatingFlowIds : kFlowIds, event.flow);
}

}  // namespace unjank::record
