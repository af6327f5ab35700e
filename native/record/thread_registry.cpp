#include "record/thread_registry.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "record/boot_clock.h"
#include "record/lock_word.h"

namespace unjank::record {

namespace {

/// A CPU set in the kernel's list format: 0-3,5.
std::string cpu_list(const cpu_set_t* set, std::size_t bytes) {
  std::string list;
  int left = CPU_COUNT_S(bytes, set);
  for (int cpu = 0; left > 0; ++cpu) {
    if (!CPU_ISSET_S(cpu, bytes, set)) continue;
    int last = cpu;
    while (last - cpu + 1 < left && CPU_ISSET_S(last + 1, bytes, set)) ++last;
    if (!list.empty()) list += ',';
    list += std::to_string(cpu);
    if (last > cpu) list += '-' + std::to_string(last);
    left -= last - cpu + 1;
    cpu = last;
  }
  return list;
}

}  // namespace

bool read_sched_facts(pid_t tid, SchedFacts& facts) {
  constexpr int kMaxCpus = 8192;  // the kernel's largest CONFIG_NR_CPUS
  cpu_set_t set[kMaxCpus / (8 * sizeof(cpu_set_t))];
  CPU_ZERO_S(sizeof set, set);
  if (sched_getaffinity(tid, sizeof set, set) != 0) return false;
  errno = 0;
  const int nice = getpriority(PRIO_PROCESS, static_cast<id_t>(tid));
  if (nice == -1 && errno != 0) return false;
  facts = {nice, cpu_list(set, sizeof set)};
  return true;
}

std::shared_ptr<ThreadLog> ThreadRegistry::attach() {
  const auto tid = static_cast<pid_t>(gettid());
  const std::lock_guard guard(mutex_);
  const std::uint32_t number = next_number_;
  if (next_number_ < LockWord<>::kMaxThread) ++next_number_;
  auto log = std::make_shared<ThreadLog>(number, tid, boot_ns());
  read_sched_facts(0, log->facts);
  log->name = tid == getpid() ? "MainThread" : "thread-" + std::to_string(tid);
  live_.emplace(number, log);
  return log;
}

void ThreadRegistry::rename(ThreadLog& log, std::string name) {
  const std::lock_guard guard(mutex_);
  log.name = std::move(name);
  log.renamed = true;
  names_version_.fetch_add(1, std::memory_order_release);
}

void ThreadRegistry::rename(pid_t tid, const std::string& name) {
  const std::lock_guard guard(mutex_);
  for (auto& [number, log] : live_) {
    if (log->tid.load(std::memory_order_relaxed) != tid || log->exited.load(std::memory_order_relaxed)) continue;
    log->name = name;
    log->renamed = true;
    names_version_.fetch_add(1, std::memory_order_release);
  }
}

std::vector<std::shared_ptr<ThreadLog>> ThreadRegistry::live() const {
  const std::lock_guard guard(mutex_);
  std::vector<std::shared_ptr<ThreadLog>> logs;
  logs.reserve(live_.size());
  for (const auto& [number, log] : live_) logs.push_back(log);
  return logs;
}

void ThreadRegistry::forget(const ThreadLog& log) {
  const std::lock_guard guard(mutex_);
  gone_[log.number] = {log.tid.load(std::memory_order_relaxed), log.name};
  gone_order_.push_back(log.number);
  if (gone_order_.size() > kRemembered) {
    gone_.erase(gone_order_.front());
    gone_order_.pop_front();
  }
  live_.erase(log.number);
}

ThreadIdentity ThreadRegistry::identify(std::uint32_t number) const {
  const std::lock_guard guard(mutex_);
  if (const auto live = live_.find(number); live != live_.end()) {
    return {live->second->tid.load(std::memory_order_relaxed), live->second->name};
  }
  const auto gone = gone_.find(number);
  return gone == gone_.end() ? ThreadIdentity{} : gone->second;
}

std::optional<pid_t> ThreadRegistry::tid_of(std::uint32_t number) const {
  const std::lock_guard guard(mutex_);
  const auto live = live_.find(number);
  if (live == live_.end()) return std::nullopt;
  return live->second->tid.load(std::memory_order_relaxed);
}

std::uint32_t ThreadRegistry::number_of(pid_t tid) const {
  const std::lock_guard guard(mutex_);
  for (const auto& [number, log] : live_) {
    if (log->tid.load(std::memory_order_relaxed) == tid && !log->exited.load(std::memory_order_relaxed)) return number;
  }
  return 0;
}

std::uint32_t ThreadRegistry::latest_number_of(pid_t tid) const {
  const std::lock_guard guard(mutex_);
  std::uint32_t latest = 0;
  for (const auto& [number, log] : live_) {
    if (log->tid.load(std::memory_order_relaxed) == tid) latest = std::max(latest, number);
  }
  return latest;
}

std::pair<std::string, bool> ThreadRegistry::take_name(ThreadLog& log) {
  const std::lock_guard guard(mutex_);
  return {log.name, std::exchange(log.renamed, false)};
}

void ThreadRegistry::before_fork() {
  mutex_.lock();
  forking_tid_ = static_cast<pid_t>(gettid());
}

void ThreadRegistry::after_fork_in_parent() { mutex_.unlock(); }

void ThreadRegistry::after_fork_in_child() {
  std::erase_if(live_, [this](const auto& entry) {
    return entry.second->tid.load(std::memory_order_relaxed) != forking_tid_ || entry.second->exited.load();
  });
  for (auto& [number, log] : live_) {
    log->tid.store(static_cast<pid_t>(gettid()), std::memory_order_relaxed);
    // What it holds was recorded by the parent, which will write it.
    if (Ring* ring = log->ring.load(std::memory_order_relaxed)) ring->drain([](const Event&) {});
  }
  mutex_.unlock();
}

}  // namespace unjank::record
