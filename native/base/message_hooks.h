// What loopers tell a recorder: every post, dispatch and removal. A table of functions that the recorder installs.
//
// While none is installed, a post and a dispatch each cost one relaxed load and a branch. Relaxed is enough: a table
// is constant-initialised and never goes away, so there is nothing to publish with its address.
// A function may be called after the table was replaced, by a thread that loaded the address before.
//
// Functions are called on the thread that posts or dispatches. They must not throw, post, or leave a Python exception
// set; what is called with `attached` may use Python.
#pragma once

#include <atomic>
#include <cstdint>

namespace unjank {

// Whose queue, and how long it is after what is being told. The length is exact at a dispatch; in between, posts and
// removals that happen at the same time may be told in another order than they happened.
struct QueueView {
  std::uint64_t looper;       // counts the process's loopers from 1
  std::int32_t tid;           // the looper's thread
  std::uint32_t pending;      // messages, due or not
};

// The objects are alive during the call.
struct MessageView {
  QueueView queue;
  std::uint64_t flow;         // the same when it is posted and when it is dispatched; different for all pending ones
  std::int64_t due_ns;        // CLOCK_MONOTONIC, or if not `real_time` the looper's virtual clock; kForever: never
  bool real_time;
  std::int64_t what;          // 0 for callbacks
  const void* handler;        // PyObject*; null for a message that C code posted
  const void* callback;       // PyObject*; null if the handler handles the message; else the C function's address
  bool attached;              // the thread may use Python
};

struct MessageHooks {
  // The recorder's clock. Read before the push: the dispatch may begin before posted() is called.
  std::uint64_t (*now)();
  // The post was accepted; it began at `began`.
  void (*posted)(const MessageView& message, std::uint64_t began);
  // Messages left without being dispatched: removed, cancelled, or dropped with the looper.
  void (*removed)(const QueueView& queue);
  // The looper's thread, before and after what the message calls. `pending` is without the message.
  void (*dispatching)(const MessageView& message);
  void (*dispatched)(const MessageView& message);
};

// One per extension module that has loopers; others reach it through install(). What is in the interpreter's
// dictionary under kMessageHooksKey (a capsule of that name, of MessageHooks) is installed when the module is loaded,
// so that a recorder need not load it.
inline std::atomic<const MessageHooks*> installed_message_hooks{nullptr};

inline const MessageHooks* message_hooks() { return installed_message_hooks.load(std::memory_order_relaxed); }

// What the capsule unjank._looper._HOOKS points to.
struct MessageHookSwitch {
  unsigned version;  // kMessageHooksVersion
  // Null: nobody listens any more. Returns what was installed before.
  const MessageHooks* (*install)(const MessageHooks* hooks);
};
inline constexpr unsigned kMessageHooksVersion = 2;
inline constexpr const char* kMessageHooksKey = "unjank.message_hooks/2";
inline constexpr const char* kMessageHooksCapsule = "unjank._looper._HOOKS";

}  // namespace unjank
