#include "record/recorder.h"

#include <pthread.h>
#include <unistd.h>

#include <utility>

#include "base/signals_blocked.h"
#include "record/boot_clock.h"

namespace unjank::record {

namespace {

constexpr std::int64_t kPassPeriodNs = 100'000'000;
constexpr std::int64_t kFactsPeriodNs = 1'000'000'000;
constexpr std::size_t kWriteAt = 256 * 1024;  // bytes; bounds the buffer whatever the rings hold

}  // namespace

struct Recorder::Recording {
  Recording(PacketFile file, SessionFacts session, const Dictionary& dictionary, const ThreadRegistry& threads)
      : file(std::move(file)), session(std::move(session)), encoder(dictionary, threads, getpid()) {}

  void begin(std::int64_t ts_ns) { encoder.session(session, ts_ns); }

  /// Hands the buffer to the file once it is `at_least` long.
  void write_out(std::size_t at_least) {
    if (encoder.size() < at_least) return;
    bytes_in_pass += encoder.size();
    file.append(encoder.bytes());
    encoder.clear();
  }

  PacketFile file;
  SessionFacts session;
  EventEncoder encoder;
  std::uint64_t bytes_in_pass = 0;
  std::int64_t facts_read_ns = 0;
};

Recorder& Recorder::instance() {
  // Never destroyed: threads of the program may outlive main.
  static Recorder* const recorder = new Recorder;
  return *recorder;
}

Recorder::Recorder() {
  pthread_atfork([] { instance().before_fork(); }, [] { instance().after_fork_in_parent(); },
                 [] { instance().after_fork_in_child(); });
}

void Recorder::detach(ThreadLog& log) {
  log.exited.store(true);
  if (!file_open_.load()) threads_.forget(log);  // else the writer does, once it has read the ring
}

bool Recorder::begin(ThreadLog& log, const Event& event) {
  if (!recording()) return false;
  if (!writer_runs_.load(std::memory_order_acquire)) ensure_writer();
  wake_writer_at(log.own_ring().push_begin(event));
  return true;
}

void Recorder::end(ThreadLog& log, const Event& event) {
  if (!writer_runs_.load(std::memory_order_acquire)) ensure_writer();
  wake_writer_at(log.own_ring().push_end(event));
}

void Recorder::instant(ThreadLog& log, const Event& event) {
  if (!recording()) return;
  if (!writer_runs_.load(std::memory_order_acquire)) ensure_writer();
  wake_writer_at(log.own_ring().push(event));
}

void Recorder::wake_writer_at(std::size_t fill) {
  if (fill == Ring::capacity() / 2) work_.notify();
}

bool Recorder::start(PacketFile file, SessionFacts session, bool samples_owner) {
  {
    const std::lock_guard guard(pass_mutex_);
    if (current_ != nullptr) return false;
    ++sessions_;
    current_ = std::make_unique<Recording>(std::move(file), std::move(session), dictionary_, threads_);
    current_->begin(boot_ns());
    stopping_.store(false, std::memory_order_relaxed);
  }
  file_open_.store(true);
  samples_owner_.store(samples_owner, std::memory_order_relaxed);
  recording_.store(true, std::memory_order_relaxed);
  ensure_writer();
  return true;
}

void Recorder::ensure_writer() {
  const std::lock_guard guard(pass_mutex_);
  if (writer_runs_.load(std::memory_order_relaxed) || current_ == nullptr) return;
  const SignalsBlocked inherited_by_the_writer;
  const bool started = pthread_create(&writer_, nullptr, &Recorder::writer_main, this) == 0;
  writer_runs_.store(started, std::memory_order_release);
}

void* Recorder::writer_main(void* recorder) {
  pthread_setname_np(pthread_self(), "unjank writer");
  static_cast<Recorder*>(recorder)->write_until_stopped();
  return nullptr;
}

void Recorder::write_until_stopped() {
  for (;;) {
    const std::uint32_t seen = work_.now();
    const std::uint64_t wanted = passes_wanted_.load(std::memory_order_acquire);
    const bool last = stopping_.load(std::memory_order_acquire);
    {
      const std::lock_guard guard(pass_mutex_);
      if (current_ != nullptr) write_pass(*current_);
    }
    passes_done_.store(wanted, std::memory_order_release);
    done_.notify();
    if (last) return;
    work_.wait_beyond(seen, kPassPeriodNs);
  }
}

void Recorder::write_pass(Recording& recording) {
  const std::int64_t begin_ns = boot_ns();
  recording.bytes_in_pass = 0;
  std::uint64_t events = 0;
  const auto logs = threads_.live();
  for (const auto& log : logs) introduce(recording, *log);  // all first: events name each other's threads
  for (const auto& log : logs) events += write_thread(recording, *log);
  if (begin_ns - recording.facts_read_ns >= kFactsPeriodNs) refresh_facts(recording);
  if (events == 0 && recording.encoder.size() == 0) return;
  recording.bytes_in_pass += recording.encoder.size();
  recording.encoder.flush_slice(static_cast<pid_t>(gettid()), begin_ns, boot_ns(), events,
                                recording.bytes_in_pass);
  recording.write_out(1);
}

std::uint64_t Recorder::write_thread(Recording& recording, ThreadLog& log) {
  const bool exited = log.exited.load(std::memory_order_acquire);
  std::uint64_t events = 0;
  if (Ring* ring = log.ring.load(std::memory_order_acquire)) {
    events = ring->drain([&](const Event& event) {
      recording.encoder.event(log, event);
      recording.write_out(kWriteAt);
    });
    if (const std::uint64_t dropped = ring->take_dropped()) recording.encoder.dropped(log, dropped, boot_ns());
  }
  if (exited) threads_.forget(log);
  return events;
}

void Recorder::introduce(Recording& recording, ThreadLog& log) {
  const auto [name, renamed] = threads_.take_name(log);
  const bool unknown = log.described_in != sessions_;
  if (!unknown && !renamed) return;
  log.described_in = sessions_;
  recording.encoder.describe_thread(log, name, boot_ns());
  if (!unknown) return;
  log.open_slices = 0;
  recording.encoder.thread_facts(log, name, boot_ns());
}

void Recorder::refresh_facts(Recording& recording) {
  const std::int64_t now = recording.facts_read_ns = boot_ns();
  for (const auto& log : threads_.live()) {
    SchedFacts facts;
    const pid_t tid = log->tid.load(std::memory_order_relaxed);
    if (log->described_in != sessions_ || !read_sched_facts(tid, facts) || facts == log->facts) continue;
    log->facts = std::move(facts);
    recording.encoder.thread_facts(*log, threads_.identify(log->number).name, now);
  }
}

void Recorder::flush() {
  if (!recording()) return;
  ensure_writer();
  const std::uint64_t mine = passes_wanted_.fetch_add(1, std::memory_order_acq_rel) + 1;
  work_.notify();
  for (;;) {
    const std::uint32_t seen = done_.now();
    if (passes_done_.load(std::memory_order_acquire) >= mine) return;
    if (!writer_runs_.load(std::memory_order_acquire)) return;
    done_.wait_beyond(seen, kPassPeriodNs);
  }
}

RecordingEnd Recorder::stop(const std::string& how) {
  if (!recording_.exchange(false)) return {};
  const std::lock_guard joining(join_mutex_);
  join_writer();
  const std::lock_guard guard(pass_mutex_);
  writer_runs_.store(false, std::memory_order_release);
  write_pass(*current_);
  current_->encoder.session_end(how, boot_ns());
  current_->write_out(1);
  const RecordingEnd end{current_->file.committed(), current_->file.error(), current_->encoder.events(),
                         current_->encoder.all_dropped()};
  current_.reset();
  file_open_.store(false);
  for (const auto& log : threads_.live()) {
    if (log->exited.load()) threads_.forget(*log);
  }
  return end;
}

void Recorder::join_writer() {
  if (!writer_runs_.load(std::memory_order_acquire)) return;
  stopping_.store(true, std::memory_order_release);
  work_.notify();
  pthread_join(writer_, nullptr);
}

// A fork copies every lock in the state it is in: so none of ours may be held by another thread then. Nor may
// the writer run: Python, from 3.12 on, counts the process's threads after a fork and warns of it if there are
// others. The next event starts a new one.
void Recorder::before_fork() {
  join_mutex_.lock();
  join_writer();
  pass_mutex_.lock();
  writer_runs_.store(false, std::memory_order_release);
  stopping_.store(false, std::memory_order_release);
  threads_.before_fork();
  dictionary_.before_fork();
}

void Recorder::after_fork_in_parent() {
  dictionary_.after_fork();
  threads_.after_fork_in_parent();
  pass_mutex_.unlock();
  join_mutex_.unlock();
}

void Recorder::after_fork_in_child() {
  dictionary_.after_fork();
  threads_.after_fork_in_child();
  pass_mutex_.unlock();
  join_mutex_.unlock();
  if (current_ == nullptr) return;
  ++sessions_;
  current_->file.reopen_after_fork();
  current_ = std::make_unique<Recording>(std::move(current_->file), std::move(current_->session), dictionary_,
                                         threads_);
  current_->begin(boot_ns());
}

}  // namespace unjank::record
