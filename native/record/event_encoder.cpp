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

std::string stack_of(const Dictionary& dictionary, std::uint32_t stack) {
  std::string text;
  for (const std::uint32_t site : dictionary.stacks.at(stack)) {
    if (!text.empty()) text += " < ";
    text += short_place(dictionary.sites.at(site));
  }
  return text;
}

}  // namespace

enum class EventEncoder::Key : std::uint8_t {
  kLock, kLockId, kLockType, kOwnerTid, kWaiters, kOwnerPath, kWaiterPath, kStack, kObject, kSite, kResult, kGilNs,
  kOwnerRunNs, kOwnerWaitNs, kOwnerNice, kExit, kEvents, kDropped, kName, kNice, kCpus, kCount, kBytes,
  kCallback, kHandler, kWhat, kDelayNs, kDueInNs, kLooper, kLooperTid,
};

const std::vector<std::string_view> EventEncoder::kKeyNames{
    "lock", "lock_id", "lock_type", "owner_tid", "waiters", "owner_path", "waiter_path", "stack", "object", "site",
    "result", "gil_ns", "owner_run_ns", "owner_wait_ns", "owner_nice", "exit", "events", "dropped", "name", "nice",
    "cpus", "count", "bytes", "callback", "handler", "what", "delay_ns", "due_in_ns", "looper", "looper_tid",
};

EventEncoder::EventEncoder(const Dictionary& dictionary, const ThreadRegistry& threads, pid_t pid)
    : dictionary_(dictionary), threads_(threads), pid_(pid), out_(static_cast<std::uint32_t>(pid), kKeyNames) {}

std::uint64_t EventEncoder::thread_track(std::uint32_t number) const {
  // Odd for threads, even for processes; never 0, which is the trace's default track.
  return static_cast<std::uint64_t>(pid_) << 32 | std::uint64_t{number} << 1 | 1;
}

std::uint64_t EventEncoder::process_track() const { return static_cast<std::uint64_t>(pid_) << 32; }

/// Before anything of the event is interned: the state may start anew here.
void EventEncoder::start(TrackEvent::Type type, std::int64_t ts_ns, std::uint64_t track, Category category) {
  if (out_.limit_interned_state()) ids_ = {};
  draft_.type = type;
  draft_.ts_ns = ts_ns;
  draft_.track = track;
  draft_.category = category;
  draft_.name = 0;
  draft_.flow = 0;
  draft_.arguments.clear();
}

void EventEncoder::start(TrackEvent::Type type, std::int64_t ts_ns, std::uint64_t track, Category category,
                         std::string_view name) {
  start(type, ts_ns, track, category);
  draft_.name = out_.event_name(name);
}

void EventEncoder::say(Key key, std::uint64_t number) {
  draft_.arguments.push_back({static_cast<std::uint64_t>(key) + 1, false, number});
}

void EventEncoder::say_if_known(Key key, std::uint64_t number) {
  if (number != kAbsent) say(key, number);
}

void EventEncoder::say_text(Key key, std::uint64_t interned) {
  draft_.arguments.push_back({static_cast<std::uint64_t>(key) + 1, true, interned});
}

void EventEncoder::say_facts(const Facts& facts) {
  for (const auto& [key, value] : facts) draft_.arguments.push_back({out_.key(key), true, out_.text(value)});
}

const Contention& EventEncoder::contention(const Event& event) {
  const std::uint64_t version = threads_.names_version();
  if (version != ids_.names_version) ids_.contentions.clear();
  ids_.names_version = version;
  return ids_.contentions.get(event, [&]() -> Contention {
    const ThreadIdentity owner = threads_.identify(event.owner);
    return {out_.event_name(contention_name(owner, dictionary_.sites.at(event.owner_site), event.waiters,
                                            dictionary_.sites.at(event.site))),
            owner.tid};
  });
}

std::uint64_t EventEncoder::wait_name(std::uint32_t function) {
  return ids_.wait_names.get(
      function, [&] { return out_.event_name("wait " + dictionary_.sites.at(function).function); });
}

std::uint64_t EventEncoder::result_text(WaitResult result) {
  return ids_.results.get(static_cast<std::uint32_t>(result), [&] { return out_.text(name_of(result)); });
}

std::uint64_t EventEncoder::stack_text(std::uint32_t stack) {
  return ids_.stacks.get(stack, [&] { return out_.text(stack_of(dictionary_, stack)); });
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
  say_text(Key::kExit, how);
  say(Key::kEvents, events_);
  say(Key::kDropped, dropped_);
  out_.write(draft_);
}

void EventEncoder::describe_thread(const ThreadLog& log, std::string_view name, std::int64_t ts_ns) {
  out_.describe_thread(ts_ns, thread_track(log.number), process_track(), pid_,
                       log.tid.load(std::memory_order_relaxed), name);
}

void EventEncoder::thread_facts(const ThreadLog& log, std::string_view name, std::int64_t ts_ns) {
  start(TrackEvent::kInstant, ts_ns, thread_track(log.number), Category::kUnjank, "thread facts");
  say_text(Key::kName, name);
  say(Key::kNice, static_cast<std::uint64_t>(std::int64_t{log.facts.nice}));
  say_text(Key::kCpus, log.facts.cpus);
  out_.write(draft_);
}

void EventEncoder::event(ThreadLog& log, const Event& event) {
  ++events_;
  switch (event.kind) {
    case EventKind::kContentionBegin: return begin_slice(log, event, Category::kLock);
    case EventKind::kWaitBegin: return begin_slice(log, event, Category::kWait);
    case EventKind::kDispatchBegin: return begin_slice(log, event, Category::kMq);
    case EventKind::kEnd:
    case EventKind::kDispatchEnd: return end_slice(log, event);
    case EventKind::kPost: return post(event, thread_track(log.number));
    case EventKind::kQueueLength: return queue_length(event);
  }
}

void EventEncoder::begin_slice(ThreadLog& log, const Event& event, Category category) {
  ++log.open_slices;
  start(TrackEvent::kSliceBegin, event.ts_ns, thread_track(log.number), category);
  switch (event.kind) {
    case EventKind::kContentionBegin: begin_contention(event); break;
    case EventKind::kWaitBegin: begin_wait(event); break;
    default: describe_dispatch(event);
  }
  out_.write(draft_);
  if (category == Category::kMq) queue_length(event);
}

void EventEncoder::end_slice(ThreadLog& log, const Event& event) {
  if (log.open_slices == 0) return;  // its begin belongs to an earlier recording
  --log.open_slices;
  start(TrackEvent::kSliceEnd, event.ts_ns, thread_track(log.number), Category::kLock);
  if (event.kind == EventKind::kEnd) end(event);
  out_.write(draft_);
}

void EventEncoder::begin_contention(const Event& event) {
  const auto path = [this](std::uint32_t site) {
    return ids_.paths.get(site, [&] { return out_.text(dictionary_.sites.at(site).path); });
  };
  const Contention& with = contention(event);
  draft_.name = with.name;
  say_text(Key::kLock,
           ids_.lock_names.get(event.name, [&] { return out_.text(dictionary_.names.at(event.name).full); }));
  say(Key::kLockId, event.lock_id);
  say_text(Key::kLockType, ids_.lock_types.get(static_cast<std::uint32_t>(event.lock_kind),
                                               [&] { return out_.text(name_of(event.lock_kind)); }));
  say(Key::kOwnerTid, static_cast<std::uint64_t>(with.owner_tid));
  say(Key::kWaiters, event.waiters);
  say_text(Key::kOwnerPath, path(event.owner_site));
  say_text(Key::kWaiterPath, path(event.site));
  if (event.stack != 0) say_text(Key::kStack, stack_text(event.stack));
}

void EventEncoder::begin_wait(const Event& event) {
  draft_.name = wait_name(event.owner_site);
  if (event.name != 0) {
    say_text(Key::kObject, ids_.object_names.get(
                               event.name, [&] { return out_.text(dictionary_.names.at(event.name).base); }));
  } else if (event.owner != 0) {
    say_text(Key::kObject, threads_.identify(event.owner).name);
  }
  if (event.lock_id != 0) say(Key::kLockId, event.lock_id);
  say_text(Key::kSite,
           ids_.places.get(event.site, [&] { return out_.text(place(dictionary_.sites.at(event.site))); }));
  if (event.stack != 0) say_text(Key::kStack, stack_text(event.stack));
}

void EventEncoder::end(const Event& event) {
  say_text(Key::kResult, result_text(event.result));
  say_if_known(Key::kGilNs, event.gil_ns);
  say_if_known(Key::kOwnerRunNs, event.owner_run_ns);
  say_if_known(Key::kOwnerWaitNs, event.owner_wait_ns);
  if (event.owner_wait_ns != kAbsent) say(Key::kOwnerNice, static_cast<std::uint64_t>(std::int64_t{event.owner_nice}));
}

void EventEncoder::post(const Event& event, std::uint64_t track) {
  start(TrackEvent::kInstant, event.ts_ns, track, Category::kMq);
  draft_.name = ids_.post_names.get(
      event.target, [&] { return out_.event_name("post " + dictionary_.sites.at(event.target).function); });
  describe_message(event);
  say_text(Key::kSite,
           ids_.places.get(event.site, [&] { return out_.text(place(dictionary_.sites.at(event.site))); }));
  say_if_known(Key::kDueInNs, event.delay_ns);
  say(Key::kLooperTid, event.looper_tid);
  out_.write(draft_);
  queue_length(event);
}

void EventEncoder::describe_dispatch(const Event& event) {
  draft_.name = ids_.dispatch_names.get(
      event.target, [&] { return out_.event_name("dispatch " + dictionary_.sites.at(event.target).function); });
  describe_message(event);
  say_if_known(Key::kDelayNs, event.delay_ns);
}

void EventEncoder::describe_message(const Event& event) {
  draft_.flow = flow_in_trace(event.flow);
  say_text(Key::kCallback, ids_.callbacks.get(event.target, [&] {
    const Site& site = dictionary_.sites.at(event.target);
    return out_.text(site.line == 0 ? site.function : short_place(site));
  }));
  if (event.handler != 0) {
    say_text(Key::kHandler,
             ids_.handlers.get(event.handler, [&] { return out_.text(dictionary_.sites.at(event.handler).function); }));
  }
  say_if_known(Key::kWhat, event.what);
  say(Key::kLooper, event.looper);
}

/// A forked process has its parent's addresses, of which flows are made; 0 would be none.
std::uint64_t EventEncoder::flow_in_trace(std::uint64_t flow) const {
  const std::uint64_t mixed = flow ^ static_cast<std::uint64_t>(pid_) << 44;
  return mixed != 0 ? mixed : 1;
}

std::uint64_t EventEncoder::queue_track(std::uint32_t looper) const {
  return process_track() | std::uint64_t{looper} << 1;  // even, as the process's, whose looper is 0
}

void EventEncoder::queue_length(const Event& event) {
  const std::uint64_t track = queue_track(event.looper);
  if (queues_described_.insert(event.looper).second) describe_queue(event, track);
  start(TrackEvent::kCounter, event.ts_ns, track, Category::kMq);
  draft_.counter = event.pending;
  out_.write(draft_);
}

/// Below the looper's thread, if that is known. The number tells one thread's loopers apart.
void EventEncoder::describe_queue(const Event& event, std::uint64_t track) {
  const auto thread = threads_.latest_number_of(static_cast<pid_t>(event.looper_tid));
  out_.describe_counter(event.ts_ns, track, thread != 0 ? thread_track(thread) : process_track(),
                        "messages pending (looper " + std::to_string(event.looper) + ')');
}

void EventEncoder::dropped(const ThreadLog& log, std::uint64_t count, std::int64_t ts_ns) {
  dropped_ += count;
  start(TrackEvent::kInstant, ts_ns, thread_track(log.number), Category::kUnjank, "events dropped");
  say(Key::kCount, count);
  out_.write(draft_);
}

void EventEncoder::flush_slice(pid_t tid, std::int64_t begin_ns, std::int64_t end_ns, std::uint64_t events,
                               std::uint64_t bytes) {
  const std::uint64_t track = thread_track(kWriterNumber);
  if (!writer_described_) out_.describe_thread(begin_ns, track, process_track(), pid_, tid, "unjank writer");
  writer_described_ = true;
  start(TrackEvent::kSliceBegin, begin_ns, track, Category::kUnjank, "flush");
  say(Key::kEvents, events);
  say(Key::kBytes, bytes);
  out_.write(draft_);
  start(TrackEvent::kSliceEnd, end_ns, track, Category::kUnjank);
  out_.write(draft_);
}

}  // namespace unjank::record
