#include "record/dictionary.h"

namespace unjank::record {

std::uint32_t StackTable::intern(const Frames& frames) {
  const std::lock_guard guard(mutex_);
  if (const auto known = ids_.find(frames); known != ids_.end()) return known->second;
  if (frames_.size() >= kLimit) return 0;
  const auto id = static_cast<std::uint32_t>(frames_.size() + 1);
  frames_.push_back(&ids_.emplace(frames, id).first->first);
  return id;
}

StackTable::Frames StackTable::at(std::uint32_t id) const {
  const std::lock_guard guard(mutex_);
  return id == 0 ? Frames{} : *frames_[id - 1];
}

}  // namespace unjank::record
