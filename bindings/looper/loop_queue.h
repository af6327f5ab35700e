// The queue of a looper, whichever of the two it is: chosen at run time, one virtual call per operation.
#pragma once

#include <functional>
#include <memory>

#include "base/clock.h"
#include "deliqueue/message.h"
#include "poll/waker.h"

namespace unjank::looper {

using deliqueue::Criteria;
using deliqueue::Handle;
using deliqueue::Message;
using deliqueue::Next;
using deliqueue::PostResult;
using deliqueue::PostStatus;
using deliqueue::QuitMode;
using deliqueue::RemoveResult;
using deliqueue::Sighting;

enum class QueueKind { kLockFree, kLocked };

// The operations are those of deliqueue::Queue; see there.
class LoopQueue {
 public:
  virtual ~LoopQueue() = default;

  virtual PostResult post(const Message& message) = 0;
  virtual PostResult post_now(const Message& message) = 0;
  virtual PostResult post_barrier(std::int64_t when_ns) = 0;
  virtual RemoveResult remove_barrier(Handle handle) = 0;
  virtual RemoveResult remove(const Criteria& criteria) = 0;
  virtual RemoveResult cancel(Handle handle) = 0;
  virtual bool has(const Criteria& criteria) = 0;
  virtual bool has_due() = 0;
  virtual void look(const std::function<void(const Sighting&)>& see) = 0;
  virtual void look_at_payloads(const std::function<void(const Message&)>& see) = 0;
  virtual int quit(QuitMode mode) = 0;
  virtual bool quitting() const = 0;
  virtual int wake() = 0;

  virtual Next next() = 0;
  virtual bool prepare_sleep() = 0;
  virtual void finish_sleep() = 0;
  virtual std::int64_t next_due() = 0;
  virtual std::size_t backlog() const = 0;
  virtual void close() = 0;
};

std::unique_ptr<LoopQueue> make_queue(QueueKind kind, poll::Waker& waker, const Clock& clock);

}  // namespace unjank::looper
