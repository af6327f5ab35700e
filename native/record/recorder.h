// The recorder of this process: threads put events into their rings, one writer thread puts them on disk.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "base/packet_file.h"
#include "record/dictionary.h"
#include "record/event.h"
#include "record/event_encoder.h"
#include "record/thread_registry.h"
#include "record/wakeup.h"

namespace unjank::record {

/// What became of a recording.
struct RecordingEnd {
  std::uint64_t bytes = 0;
  int error = 0;  // errno of the first failed write, 0 if none
  std::uint64_t events = 0;   // of this process
  std::uint64_t dropped = 0;  // begins that found their ring full
};

class Recorder {
 public:
  /// One per process: rings and forks belong to the process, not to a recording.
  static Recorder& instance();

  bool recording() const { return recording_.load(std::memory_order_relaxed); }
  /// Whether the slow path of a lock reads its owner's schedstat.
  bool samples_owner() const { return samples_owner_.load(std::memory_order_relaxed); }

  std::shared_ptr<ThreadLog> attach() { return threads_.attach(); }
  void detach(ThreadLog& log);
  ThreadRegistry& threads() { return threads_; }
  Dictionary& dictionary() { return dictionary_; }

  /// True if the begin belongs to a recording; then, and only then, the caller owes an `end`.
  bool begin(ThreadLog& log, const Event& event);
  void end(ThreadLog& log, const Event& event);
  /// An event without an end.
  void instant(ThreadLog& log, const Event& event);

  /// Starts the writer. One recording at a time: false if there is one already.
  bool start(PacketFile file, SessionFacts session, bool samples_owner);
  /// Returns once all that was recorded before the call is in the file.
  void flush();
  RecordingEnd stop(const std::string& how);

 private:
  Recorder();

  struct Recording;  // file and encoder; the writer's while it runs

  void ensure_writer();
  void join_writer();  // under `join_mutex_`
  void write_until_stopped();
  void write_pass(Recording& recording);
  std::uint64_t write_thread(Recording& recording, ThreadLog& log);
  void introduce(Recording& recording, ThreadLog& log);
  void refresh_facts(Recording& recording);
  void wake_writer_at(std::size_t fill);
  void before_fork();
  void after_fork_in_parent();
  void after_fork_in_child();

  static void* writer_main(void* recorder);

  // `recording_`, `samples_owner_` — Encode: switches. Written by: start, stop. Read by all threads, relaxed:
  // an event more or less at the edge of a recording does not matter, and rings outlive recordings.
  std::atomic<bool> recording_{false};
  std::atomic<bool> samples_owner_{false};
  // `file_open_` — Encodes: a writer may still read rings, also after `recording_` went down. Written by:
  // start, stop. Sequentially consistent with ThreadLog::exited: a thread that ends around `stop` is
  // forgotten by itself or by `stop`, never before its last events are written.
  std::atomic<bool> file_open_{false};
  ThreadRegistry threads_;
  Dictionary dictionary_;

  // Makes the ends of a writer one at a time: held by stop and across a fork. Taken before `pass_mutex_`.
  std::mutex join_mutex_;
  // Guards `recording`, `sessions_`, `writer_runs_`: held for a whole pass, by stop, and across a fork.
  std::mutex pass_mutex_;
  std::unique_ptr<Recording> current_;
  std::uint64_t sessions_ = 0;
  // `writer_runs_` — Encodes: a writer thread exists in this process. Written under `pass_mutex_`.
  std::atomic<bool> writer_runs_{false};
  pthread_t writer_{};
  std::atomic<bool> stopping_{false};
  // `passes_wanted_`, `passes_done_` — Encode: numbers of flushes. A flush is done when done >= its own.
  std::atomic<std::uint64_t> passes_wanted_{0};
  std::atomic<std::uint64_t> passes_done_{0};
  Wakeup work_;
  Wakeup done_;
};

}  // namespace unjank::record
