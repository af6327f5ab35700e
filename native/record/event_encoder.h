// Turns events, thread facts and session facts into trace packets.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "record/dictionary.h"
#include "record/event.h"
#include "record/interned_ids.h"
#include "record/thread_registry.h"
#include "record/track_event_writer.h"

namespace unjank::record {

/// Name and value of a fact, shown as an argument in the trace.
using Facts = std::vector<std::pair<std::string, std::string>>;

/// What is recorded, told once at the start.
struct SessionFacts {
  std::string process_name;
  std::vector<std::string> command_line;
  Facts facts;
};

class EventEncoder {
 public:
  EventEncoder(const Dictionary& dictionary, const ThreadRegistry& threads, pid_t pid);

  void session(const SessionFacts& session, std::int64_t ts_ns);
  void session_end(std::string_view how, std::int64_t ts_ns);
  void describe_thread(const ThreadLog& log, std::string_view name, std::int64_t ts_ns);
  void thread_facts(const ThreadLog& log, std::string_view name, std::int64_t ts_ns);
  void event(ThreadLog& log, const Event& event);
  void dropped(const ThreadLog& log, std::uint64_t count, std::int64_t ts_ns);
  /// The writer's own work: how long a flush took and what it wrote.
  void flush_slice(pid_t tid, std::int64_t begin_ns, std::int64_t end_ns, std::uint64_t events,
                   std::uint64_t bytes);

  std::uint64_t events() const { return events_; }
  std::uint64_t all_dropped() const { return dropped_; }
  std::span<const std::byte> bytes() const { return out_.bytes(); }
  std::size_t size() const { return out_.size(); }
  void clear() { out_.clear(); }

 private:
  /// Arguments' names with ids known beforehand; in the order of `kKeyNames`.
  enum class Key : std::uint8_t;
  static const std::vector<std::string_view> kKeyNames;

  void begin_contention(const Event& event);
  void begin_wait(const Event& event);
  void end(const Event& event);
  void begin_slice(ThreadLog& log, const Event& event, Category category);
  void end_slice(ThreadLog& log, const Event& event);
  void post(const Event& event, std::uint64_t track);
  void describe_dispatch(const Event& event);
  void describe_message(const Event& event);
  void queue_length(const Event& event);
  void describe_queue(const Event& event, std::uint64_t track);
  void start(TrackEvent::Type type, std::int64_t ts_ns, std::uint64_t track, Category category);
  void start(TrackEvent::Type type, std::int64_t ts_ns, std::uint64_t track, Category category,
             std::string_view name);
  void say(Key key, std::uint64_t number);
  void say_if_known(Key key, std::uint64_t number);
  void say_text(Key key, std::uint64_t interned);
  void say_text(Key key, std::string_view text) { say_text(key, out_.text(text)); }
  void say_facts(const Facts& facts);
  std::uint64_t thread_track(std::uint32_t number) const;
  std::uint64_t process_track() const;
  std::uint64_t queue_track(std::uint32_t looper) const;

  const Contention& contention(const Event& event);
  std::uint64_t flow_in_trace(std::uint64_t flow) const;
  std::uint64_t wait_name(std::uint32_t function);
  std::uint64_t result_text(WaitResult result);
  std::uint64_t stack_text(std::uint32_t stack);

  const Dictionary& dictionary_;
  const ThreadRegistry& threads_;
  pid_t pid_;
  TrackEventWriter out_;
  TrackEvent draft_;  // reused, so that its vector keeps its memory
  InternedIds ids_;
  std::unordered_set<std::uint32_t> queues_described_;  // loopers
  bool writer_described_ = false;
  std::uint64_t events_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace unjank::record
