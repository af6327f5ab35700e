#include "record/event_encoder.h"

#include <unistd.h>

#include "record/slice_name.h"

namespace unjank::record {

namespace {

constexpr std::uint32_t kWriterNumber = 0;  // no thread of the program has it

std::string_view name_of(LockKind kind) { return kind == LockKind::kRLock ? "RLock" : "Lock"; }

std::string_view name_of(WaitResult result) {
  switch (result) {
    case WaitResult::kAcquired: return "acquired";
    case WaitResult::kTimeout: return "timeout";
    case WaitResult::kInterrupted: return "interrupted";
  }
  return "unknown";
}

/// Ledger.post (bank.py:12)
std::string short_place(const Site& site) {
  return site.function + " (" + site.file + ':' + std::to_string(site.line) + ')';
}

}  // namespace

std::uint64_t EventEncoder::thread_track(std::uint32_t number) const {
  // Odd for threads, even for processes; never 0, which is the trace's default track.
  return static_cast<std::uint64_t>(pid_) << 32 | std::uint64_t{number} << 1 | 1;
}

std::uint64_t EventEncoder::process_track() const { return static_cast<std::uint64_t>(pid_) << 32; }

void EventEncoder::start(TrackEvent::Type type, std::int64_t ts_ns, std::uint64_t track, Category category,
                         std::string_view name) {
  out_.limit_interned_state();
  draft_.type = type;
  draft_.ts_ns = ts_ns;
  draft_.track = track;
  draft_.category = category;
  draft_.name = name.empty() ? 0 : out_.event_name(name);
  draft_.arguments.clear();
}

void EventEncoder::say(std::string_view key, std::string_view text) {
  draft_.arguments.push_back({out_.key(key), true, out_.text(text)});
}

void EventEncoder::say(std::string_view key, std::uint64_t number) {
  draft_.arguments.push_back({out_.key(key), false, number});
}

void EventEncoder::say_if_known(std::string_view key, std::uint64_t number) {
  if (number != kAbsent) say(key, number);
}

void EventEncoder::say_facts(const Facts& facts) {
  for (const auto& [key, value] : facts) say(key, std::string_view(value));
}

void EventEncoder::say_stack(std::uint32_t stack) {
  std::string text;
  for (const std::uint32_t site : dictionary_.stacks.at(stack)) {
    if (!text.empty()) text += " < ";
    text += short_place(dictionary_.sites.at(site));
  }
  if (!text.empty()) say("stack", std::string_view(text));
}

void EventEncoder::session(const SessionFacts& session, std::int64_t ts_ns) {
  out_.describe_process(ts_ns, process_track(), pid_, session.process_name, session.command_line);
  out_.name_process(ts_ns, pid_, getppid(), session.process_name, session.command_line);
  start(TrackEvent::kInstant, ts_ns, process_track(), Category::kUnjank, "session");
  say_facts(session.facts);
  out_.write(draft_);
}

void EventEncoder::session_end(std::string_view how, std::int64_t ts_ns) {
  start(TrackEvent::kInstant, ts_ns, process_track(), Category::kUnjank, "session end");
  say("exit", how);
  say("events", events_);
  say("dropped", dropped_);
  out_.write(draft_);
}

void EventEncoder::describe_thread(const ThreadLog& log, std::string_view name, std::int64_t ts_ns) {
  out_.describe_thread(ts_ns, thread_track(log.number), process_track(), pid_,
                       log.tid.load(std::memory_order_relaxed), name);
}

void EventEncoder::thread_facts(const ThreadLog& log, std::string_view name, std::int64_t ts_ns) {
  start(TrackEvent::kInstant, ts_ns, thread_track(log.number), Category::kUnjank, "thread facts");
  say("name", name);
  say("nice", static_cast<std::uint64_t>(std::int64_t{log.facts.nice}));
  say("cpus", std::string_view(log.facts.cpus));
  out_.write(draft_);
}

void EventEncoder::event(ThreadLog& log, const Event& event) {
  ++events_;
  if (event.kind == EventKind::kEnd) {
    if (log.open_slices == 0) return;  // its begin belongs to an earlier recording
    --log.open_slices;
    start(TrackEvent::kSliceEnd, event.ts_ns, thread_track(log.number), Category::kLock, "");
    end(event);
  } else {
    ++log.open_slices;
    const bool contention = event.kind == EventKind::kContentionBegin;
    const std::string name =
        contention ? contention_name(threads_.identify(event.owner), dictionary_.sites.at(event.owner_site),
                                     event.waiters, dictionary_.sites.at(event.site))
                   : "wait " + dictionary_.sites.at(event.owner_site).function;
    start(TrackEvent::kSliceBegin, event.ts_ns, thread_track(log.number),
          contention ? Category::kLock : Category::kWait, name);
    contention ? begin_contention(event) : begin_wait(event);
  }
  out_.write(draft_);
}

void EventEncoder::begin_contention(const Event& event) {
  say("lock", std::string_view(dictionary_.names.at(event.name).full));
  say("lock_id", event.lock_id);
  say("lock_type", name_of(event.lock_kind));
  say("owner_tid", static_cast<std::uint64_t>(threads_.identify(event.owner).tid));
  say("waiters", event.waiters);
  say("owner_path", std::string_view(dictionary_.sites.at(event.owner_site).path));
  say("waiter_path", std::string_view(dictionary_.sites.at(event.site).path));
  say_stack(event.stack);
}

void EventEncoder::begin_wait(const Event& event) {
  if (event.name != 0) say("object", std::string_view(dictionary_.names.at(event.name).base));
  if (event.lock_id != 0) say("lock_id", event.lock_id);
  say("site", std::string_view(place(dictionary_.sites.at(event.site))));
  say_stack(event.stack);
}

void EventEncoder::end(const Event& event) {
  say("result", name_of(event.result));
  say_if_known("gil_ns", event.gil_ns);
  say_if_known("owner_run_ns", event.owner_run_ns);
  say_if_known("owner_wait_ns", event.owner_wait_ns);
  if (event.owner_wait_ns != kAbsent) say("owner_nice", static_cast<std::uint64_t>(std::int64_t{event.owner_nice}));
}

void EventEncoder::dropped(const ThreadLog& log, std::uint64_t count, std::int64_t ts_ns) {
  dropped_ += count;
  start(TrackEvent::kInstant, ts_ns, thread_track(log.number), Category::kUnjank, "events dropped");
  say("count", count);
  out_.write(draft_);
}

void EventEncoder::flush_slice(pid_t tid, std::int64_t begin_ns, std::int64_t end_ns, std::uint64_t events,
                               std::uint64_t bytes) {
  const std::uint64_t track = thread_track(kWriterNumber);
  if (!writer_described_) out_.describe_thread(begin_ns, track, process_track(), pid_, tid, "unjank writer");
  writer_described_ = true;
  start(TrackEvent::kSliceBegin, begin_ns, track, Category::kUnjank, "flush");
  say("events", events);
  say("bytes", bytes);
  out_.write(draft_);
  start(TrackEvent::kSliceEnd, end_ns, track, Category::kUnjank, "");
  out_.write(draft_);
}

}  // namespace unjank::record
