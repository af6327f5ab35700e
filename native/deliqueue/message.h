// What travels through a queue, who owns it, and how it is picked out again. Shared by both queues.
//
// Ownership. post() copies a Message in. If it was accepted, the queue owns what `obj`, `callback`, `receiver`,
// `token` and `data` stand for until exactly one of these happens:
//   - next() hands the Message out: the looper owns it, and `release` is not called;
//   - it is removed, cancelled, or dropped by quit or by the queue's destructor: `release` is called once, by
//     that thread, while no structure of the queue is being held.
// If post() refused, the caller still owns it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace unjank::deliqueue {

struct Message;
using Release = void (*)(const Message&) noexcept;

enum MessageFlag : std::uint8_t {
  kAsynchronous = 1,  // runs though a sync barrier stands
  kAtFront = 2,       // before everything else; `when_ns` does not matter; the last one posted is first
};

// The pointers are opaque: compared by identity, never followed.
struct Message {
  std::int64_t when_ns = 0;  // due time; clamped to kForever
  const void* target = nullptr;    // the handler
  std::int64_t what = 0;
  std::int64_t arg1 = 0;
  std::int64_t arg2 = 0;
  const void* obj = nullptr;
  const void* callback = nullptr;
  const void* receiver = nullptr;  // a bound method's object, whose function is `callback`
  const void* token = nullptr;
  void* data = nullptr;            // never matched
  Release release = nullptr;       // null: nothing to release
  std::uint8_t flags = 0;

  bool asynchronous() const { return flags & kAsynchronous; }
  bool at_front() const { return flags & kAtFront; }
  void drop() const {
    if (release) release(*this);
  }
};

// Which messages: all of one target, narrowed by each named field.
struct Criteria {
  enum Field : std::uint8_t { kWhat = 1, kObj = 2, kCallback = 4, kReceiver = 8, kToken = 16 };

  const void* target = nullptr;
  std::uint8_t fields = 0;
  std::int64_t what = 0;
  const void* obj = nullptr;
  const void* callback = nullptr;
  const void* receiver = nullptr;
  const void* token = nullptr;

  // `source` is a Message or a node: anything whose match fields are read by these accessors.
  template <class Source>
  bool matches(const Source& source) const {
    return source.match_target() == target && (!(fields & kWhat) || source.match_what() == what) &&
           (!(fields & kObj) || source.match_obj() == obj) &&
           (!(fields & kCallback) || source.match_callback() == callback) &&
           (!(fields & kReceiver) || source.match_receiver() == receiver) &&
           (!(fields & kToken) || source.match_token() == token);
  }
};

// One posted message, for cancel(). Stays harmless after the message ran: the generation no longer fits.
struct Handle {
  void* node = nullptr;
  std::uint64_t generation = 0;
  explicit operator bool() const { return node != nullptr; }
};

enum class PostStatus : std::uint8_t {
  kAccepted,
  kQuit,      // the queue has quit; the caller keeps the message
  kNoMemory,  // the caller keeps the message
};

struct PostResult {
  PostStatus status = PostStatus::kAccepted;
  int wake_errno = 0;  // accepted, but the sleeping looper could not be woken: the write's errno
  Handle handle{};
  explicit operator bool() const { return status == PostStatus::kAccepted; }
};

struct RemoveResult {
  std::size_t count = 0;
  int wake_errno = 0;
  explicit operator bool() const { return count != 0; }
};

enum class QuitMode : std::uint8_t {
  kDrop,  // drop everything that has not been handed out
  kSafe,  // hand out what was due when the looper saw the quit, drop the rest; standing barriers are lifted
};

// What next() found.
struct Next {
  enum class Kind : std::uint8_t { kMessage, kWait, kQuit };
  Kind kind = Kind::kWait;
  std::int64_t deadline_ns = 0;  // kWait: when the next message is due; kForever if there is none
  Message message{};             // kMessage
  Handle handle{};               // kMessage: what its post answered with
};

// One pending message as a visitor saw it. The pointers are identities only: what they stand for may be gone.
struct Sighting {
  std::int64_t when_ns;
  const void* target;
  std::int64_t what;
  const void* obj;
  const void* callback;
  std::uint8_t flags;
  bool barrier;
};

}  // namespace unjank::deliqueue
