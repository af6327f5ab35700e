// Small numbers for what is in the heaps, so that an entry is 16 bytes and a move is noted in a dense array.
// One thread. Noting it in the items themselves would touch a line anywhere in memory for each level of the heap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace unjank::deliqueue {

using Slot = std::uint32_t;
inline constexpr Slot kNoSlot = UINT32_MAX;

// Where in its heap each slot's entry is.
class Positions {
 public:
  void resize(std::size_t slots) { positions_.resize(slots); }
  void moved(Slot slot, std::size_t index) { positions_[slot] = static_cast<std::uint32_t>(index); }
  std::size_t of(Slot slot) const { return positions_[slot]; }

 private:
  std::vector<std::uint32_t> positions_;
};

// Gives items slots; a freed slot is the next one given.
template <class Item>
class Slots {
 public:
  Slot take(Item item) {
    if (free_.empty()) return add(item);
    const Slot slot = free_.back();
    free_.pop_back();
    items_[slot] = item;
    return slot;
  }
  void free(Slot slot) { free_.push_back(slot); }
  Item operator[](Slot slot) const { return items_[slot]; }
  Positions& positions() { return positions_; }

 private:
  Slot add(Item item) {
    items_.push_back(item);
    free_.reserve(items_.capacity());  // so that freeing a slot needs no memory
    positions_.resize(items_.size());
    return static_cast<Slot>(items_.size() - 1);
  }

  std::vector<Item> items_;
  std::vector<Slot> free_;
  Positions positions_;
};

}  // namespace unjank::deliqueue
