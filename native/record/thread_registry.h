// All threads that the recorder knows, living and lately gone.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "record/thread_log.h"

namespace unjank::record {

/// Who a thread number is, for naming an owner.
struct ThreadIdentity {
  pid_t tid = 0;
  std::string name = "unknown";
};

class ThreadRegistry {
 public:
  /// Makes the calling thread known. Numbers are never used twice.
  std::shared_ptr<ThreadLog> attach();
  void rename(ThreadLog& log, std::string name);
  /// Renames by kernel thread id; nothing happens if no such thread is known.
  void rename(pid_t tid, const std::string& name);

  std::vector<std::shared_ptr<ThreadLog>> live() const;
  /// The thread has ended and its events are written: only who it was is kept, for some time.
  void forget(const ThreadLog& log);

  ThreadIdentity identify(std::uint32_t number) const;
  std::optional<pid_t> tid_of(std::uint32_t number) const;
  /// The number of the living thread with this kernel id; 0 if it is not known.
  std::uint32_t number_of(pid_t tid) const;
  /// Also of one that has ended, as long as not all of its events are written.
  std::uint32_t latest_number_of(pid_t tid) const;
  /// Changes whenever `identify` may answer another name than before.
  std::uint64_t names_version() const { return names_version_.load(std::memory_order_acquire); }
  /// The name, and whether it changed since the last call.
  std::pair<std::string, bool> take_name(ThreadLog& log);

  /// Around a fork: nothing is half done in the child, and only the forking thread lives on there.
  void before_fork();
  void after_fork_in_parent();
  void after_fork_in_child();

 private:
  static constexpr std::size_t kRemembered = 4096;

  mutable std::mutex mutex_;
  // `names_version_` — Encodes: renamings so far. Written under `mutex_`; read by the writer without it: a name
  // that is being changed just then may still be told as it was.
  std::atomic<std::uint64_t> names_version_{0};
  std::uint32_t next_number_ = 1;
  pid_t forking_tid_ = 0;
  std::unordered_map<std::uint32_t, std::shared_ptr<ThreadLog>> live_;
  std::unordered_map<std::uint32_t, ThreadIdentity> gone_;
  std::deque<std::uint32_t> gone_order_;
};

}  // namespace unjank::record
