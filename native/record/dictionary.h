// What events refer to by number: code places, lock names, stacks. Grows by what is *new*, is capped, and
// each part answers 0, "unknown", once it is full: the recorder's memory stays bounded however long it runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace unjank::record {

/// A line of code.
struct Site {
  std::string function;  // qualified name: Ledger.post
  std::string path;      // as the code object has it
  std::string file;      // last part of the path
  std::uint32_t line = 0;
};

/// A lock's name: `full` tells the lock, `base` the object that the user's code made (a queue's lock and
/// the queue).
struct Name {
  std::string full;
  std::string base;
};

/// Append-only table; entry 0 is the unknown one. Entries never move, so a reader may keep references.
template <class T>
class Table {
 public:
  explicit Table(T unknown, std::size_t limit) : limit_(limit) { entries_.push_back(std::move(unknown)); }

  std::uint32_t add(T entry) {
    const std::lock_guard guard(mutex_);
    if (entries_.size() > limit_) return 0;
    entries_.push_back(std::move(entry));
    return static_cast<std::uint32_t>(entries_.size() - 1);
  }

  const T& at(std::uint32_t id) const {
    const std::lock_guard guard(mutex_);
    return entries_[id];
  }

  bool full() const {
    const std::lock_guard guard(mutex_);
    return entries_.size() > limit_;
  }

  std::mutex& mutex() const { return mutex_; }

 private:
  mutable std::mutex mutex_;
  std::deque<T> entries_;
  std::size_t limit_;
};

/// Stacks are found again by content: the same wait from the same place is one entry.
class StackTable {
 public:
  using Frames = std::vector<std::uint32_t>;  // sites, innermost first

  std::uint32_t intern(const Frames& frames);
  Frames at(std::uint32_t id) const;
  std::mutex& mutex() const { return mutex_; }

 private:
  static constexpr std::size_t kLimit = 1 << 16;
  mutable std::mutex mutex_;
  std::map<Frames, std::uint32_t> ids_;
  std::deque<const Frames*> frames_;
};

struct Dictionary {
  static constexpr std::size_t kLimit = 1 << 16;

  Table<Site> sites{Site{"unknown", "unknown", "unknown", 0}, kLimit};
  Table<Name> names{Name{"unnamed lock", "unnamed"}, kLimit};
  StackTable stacks;

  /// Around a fork: no other thread is in the middle of an addition.
  void before_fork() {
    sites.mutex().lock();
    names.mutex().lock();
    stacks.mutex().lock();
  }
  void after_fork() {
    stacks.mutex().unlock();
    names.mutex().unlock();
    sites.mutex().unlock();
  }
};

}  // namespace unjank::record
