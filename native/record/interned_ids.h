// Interned ids by dictionary number: a text is put together and looked up once, not for each event that says it.
//
// Valid until the trace's interned state starts anew; a renamed thread only makes the owners' part stale. Bounded
// as the dictionary is, and the owners' part by a limit of its own.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "record/event.h"

namespace unjank::record {

class IdsByNumber {
 public:
  /// The id of `number`; `intern()` makes it the first time.
  template <class Intern>
  std::uint64_t get(std::uint32_t number, Intern&& intern) {
    if (number >= ids_.size()) ids_.resize(number + 1);
    if (ids_[number] == 0) ids_[number] = intern();
    return ids_[number];
  }
  void clear() { ids_.clear(); }

 private:
  std::vector<std::uint64_t> ids_;  // 0: not made yet
};

/// What is said of a contention with this owner.
struct Contention {
  std::uint64_t name = 0;  // interned
  pid_t owner_tid = 0;
};

class ContentionIds {
 public:
  template <class Make>
  const Contention& get(const Event& event, Make&& make) {
    const Key key{event.owner, event.owner_site, event.site, event.waiters};
    if (const auto known = known_.find(key); known != known_.end()) return known->second;
    if (known_.size() >= kLimit) known_.clear();
    return known_.emplace(key, make()).first->second;
  }
  void clear() { known_.clear(); }

 private:
  static constexpr std::size_t kLimit = 1 << 14;
  struct Key {
    std::uint32_t owner;
    std::uint32_t owner_site;
    std::uint32_t site;
    std::uint32_t waiters;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      const std::uint64_t places = std::uint64_t{key.owner_site} << 32 | key.site;
      const std::uint64_t threads = std::uint64_t{key.owner} << 32 | key.waiters;
      std::uint64_t mixed = (places ^ threads * 0x9E3779B97F4A7C15u) * 0xBF58476D1CE4E5B9u;
      return mixed ^ mixed >> 29;
    }
  };
  std::unordered_map<Key, Contention, Hash> known_;
};

/// All of it. Site, name and stack numbers are the dictionary's.
struct InternedIds {
  IdsByNumber lock_names;
  IdsByNumber object_names;
  IdsByNumber paths;
  IdsByNumber places;
  IdsByNumber stacks;
  IdsByNumber wait_names;  // by the site of the function that waits
  IdsByNumber post_names;      // by the site of what is called
  IdsByNumber dispatch_names;  // likewise
  IdsByNumber callbacks;       // likewise, with file and line
  IdsByNumber handlers;
  IdsByNumber results;
  IdsByNumber lock_types;
  ContentionIds contentions;
  std::uint64_t names_version = 0;  // of the threads' names that `contentions` hold
};

}  // namespace unjank::record
