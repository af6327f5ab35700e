// The looper's heap: who is due next. One thread, no atomics.
//
// 8-ary: a third of a binary heap's levels. An entry is 16 bytes and eight children fill two cache lines, which are
// fetched at once. The keys (due time, sequence number) are in the array, so ordering follows no pointer. Half of a
// heap's comparisons go either way, which a branch predictor cannot learn: the comparator is arithmetic
// (BranchlessBefore), and picking the least of eight children is a tournament of index additions. Android 17 does the
// same with sign(when) * 2 + sign(seq). It pays while the heap fits the caches, up to some 10^5 entries; beyond that
// memory is the limit, and a guessed branch fetches ahead. `unjank bench heap` shows where that is on a machine.
//
// push O(1) on average for random keys, O(log n) at worst; pop, erase O(log n); append and settle of k: O(k + log^2 n).
// Erase by index needs to know where an entry is: Positions are told of every move.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include "base/cache_line.h"
#include "deliqueue/slots.h"

namespace unjank::deliqueue {

struct Key {
  std::int64_t when;
  std::int32_t sequence;
};

struct HeapEntry {
  std::int64_t when;
  std::int32_t sequence;
  Slot slot;
  Key key() const { return {when, sequence}; }
};
static_assert(sizeof(HeapEntry) == 16);

// Of keys and entries alike.
struct BranchlessBefore {
  template <class A, class B>
  static bool before(const A& a, const B& b) {
    return (a.when < b.when) | ((a.when == b.when) & (a.sequence < b.sequence));
  }
  // The lesser of the two, as an index.
  static std::size_t lesser(const HeapEntry* entries, std::size_t i, std::size_t j) {
    return i + (j - i) * before(entries[j], entries[i]);
  }
};

// The same order with the jumps an obvious comparator has: for `bench heap`.
struct BranchyBefore {
  template <class A, class B>
  static bool before(const A& a, const B& b) {
    if (a.when < b.when) return true;
    if (a.when > b.when) return false;
    return a.sequence < b.sequence;
  }
  static std::size_t lesser(const HeapEntry* entries, std::size_t i, std::size_t j) {
    if (before(entries[j], entries[i])) return j;
    return i;
  }
};

// Puts the second entry, and with it each group of eight siblings, at the start of a pair of cache lines.
template <class Entry>
struct SiblingAllocator {
  using value_type = Entry;
  static constexpr std::size_t kGroup = 2 * kCacheLine;
  static constexpr std::size_t kOffset = kGroup - sizeof(Entry);

  Entry* allocate(std::size_t count) {
    void* const memory = ::operator new(count * sizeof(Entry) + kGroup, std::align_val_t{kGroup});
    return reinterpret_cast<Entry*>(static_cast<char*>(memory) + kOffset);
  }
  void deallocate(Entry* entries, std::size_t) {
    ::operator delete(reinterpret_cast<char*>(entries) - kOffset, std::align_val_t{kGroup});
  }
  bool operator==(const SiblingAllocator&) const { return true; }
};
using EntryArray = std::vector<HeapEntry, SiblingAllocator<HeapEntry>>;

template <class Before = BranchlessBefore>
class Heap {
 public:
  explicit Heap(Positions& positions) : positions_(positions) {}

  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }
  const HeapEntry& head() const { return entries_.front(); }
  // What will be head once the head is gone. There are at least two entries.
  const HeapEntry& second() const { return entries_[least_child(1)]; }
  const EntryArray& entries() const { return entries_; }

  void push(Key key, Slot slot) {
    append(key, slot);
    sift_up(entries_.size() - 1);
  }

  // Appends without ordering. settle() must follow before anything else is asked of the heap.
  void append(Key key, Slot slot) {
    entries_.push_back({key.when, key.sequence, slot});
    positions_.moved(slot, entries_.size() - 1);
  }

  // Orders what was appended since the heap had `settled` entries. Few are sifted up one by one: O(1) each for
  // random keys. Many are cheaper sifted down: O(k + log^2 n) however the keys lie.
  void settle(std::size_t settled) {
    const std::size_t added = entries_.size() - settled;
    if (added == 0) return;
    if (added < settled / 8) {
      for (std::size_t i = settled; i < entries_.size(); ++i) sift_up(i);
    } else {
      sift_down_ancestors(settled);
    }
  }

  Slot pop() {
    const Slot slot = head().slot;
    erase(0);
    return slot;
  }

  void erase(std::size_t index) {
    const HeapEntry last = entries_.back();
    entries_.pop_back();
    if (index == entries_.size()) return;
    place(index, last);
    sift_down(index);
    sift_up(index);
  }

  // Gives every entry the sequence number renamed(key). The numbers may change, their order may not.
  template <class Renamed>
  void rename_sequences(Renamed&& renamed) {
    for (std::size_t i = 0; i < entries_.size(); ++i) entries_[i].sequence = renamed(entries_[i].key());
  }

  // Takes out every entry whose key fits and gives its slot to taken(slot). O(n).
  template <class Fits, class Taken>
  void extract_if(Fits&& fits, Taken&& taken) {
    std::vector<HeapEntry> out;
    std::size_t kept = 0;
    for (const HeapEntry& entry : entries_) {
      if (fits(entry.key())) {
        out.push_back(entry);
      } else {
        place(kept++, entry);
      }
    }
    entries_.resize(kept);
    settle(0);
    for (const HeapEntry& entry : out) taken(entry.slot);
  }

 private:
  static constexpr std::size_t kArity = 8;
  static std::size_t parent(std::size_t i) { return (i - 1) / kArity; }
  static std::size_t first_child(std::size_t i) { return i * kArity + 1; }

  void place(std::size_t index, const HeapEntry& entry) {
    entries_[index] = entry;
    positions_.moved(entry.slot, index);
  }

  std::size_t least_child(std::size_t first) const {
    if (first + kArity <= entries_.size()) return tournament<kArity>(first);
    std::size_t least = first;
    for (std::size_t i = first + 1; i < entries_.size(); ++i) least = Before::lesser(entries_.data(), least, i);
    return least;
  }

  template <std::size_t N>
  std::size_t tournament(std::size_t first) const {
    if constexpr (N == 1) {
      return first;
    } else {
      return Before::lesser(entries_.data(), tournament<N / 2>(first), tournament<N / 2>(first + N / 2));
    }
  }

  // The new entries' parents, then those parents' parents, and so on to the root, each generation from the end.
  // An ancestor is sifted for the last time after everything below it, so it ends as the root of a heap.
  void sift_down_ancestors(std::size_t settled) {
    if (entries_.size() < 2) return;
    std::size_t low = parent(settled < 2 ? 1 : settled);
    std::size_t high = parent(entries_.size() - 1);
    for (;;) {
      for (std::size_t i = high + 1; i-- > low;) sift_down(i);
      if (low == 0) return;  // the last range began at the root: nothing is left above it
      low = parent(low);
      high = parent(high);
    }
  }

  void sift_down(std::size_t index) {
    const HeapEntry entry = entries_[index];
    for (std::size_t child = first_child(index); child < entries_.size(); child = first_child(index)) {
      child = least_child(child);
      if (!Before::before(entries_[child], entry)) break;
      place(index, entries_[child]);
      index = child;
    }
    place(index, entry);
  }

  void sift_up(std::size_t index) {
    const HeapEntry entry = entries_[index];
    while (index != 0 && Before::before(entry, entries_[parent(index)])) {
      place(index, entries_[parent(index)]);
      index = parent(index);
    }
    place(index, entry);
  }

  EntryArray entries_;
  Positions& positions_;
};

}  // namespace unjank::deliqueue
