// What a message of the queue stands for in Python, by its `release` function:
//
//   kind      release         callback, receiver           obj               token   data
//   posted    drop_posted     identity of the callable     builtin callable  token   tuple of arguments or null
//   sent      drop_sent       null                         obj               token   dict or null
//   carried   drop_carried    identity of its callback     obj               token   the Message object
//   native    drop_native     the C functions run, drop    their argument    null    null
//
// Every pointer but `target` may be null. All are owned references, except callback and receiver of a builtin
// callable, which its object in `obj` (carried: the Message) keeps alive, and all of a native message, whose target is
// the LoopState. `arg2` of posted and carried holds Mark bits.
// `what` of a posted message is kPostedCode, which no send() can have, so codes never match callbacks.
#pragma once

#include <Python.h>

#include "callable.h"
#include "types.h"

namespace unjank::looper {

inline constexpr std::int64_t kPostedCode = INT64_MIN;

enum Mark : std::int64_t {
  kBuiltin = 1,         // callback and receiver are identities only
  kPooledFunction = 2,  // the reference is of the thread's stock, see reference_cache.h
  kPooledReceiver = 4,
};

enum class Payload { kPosted, kSent, kCarried, kNative };

// Fills in a callback with its arguments (stolen tuple or null).
void fill_posted(Message& message, HandlerObject* handler, PyObject* callable, PyObject* token, PyObject* arguments);
Message sent_message(HandlerObject* handler, std::int64_t what, std::int64_t arg1, std::int64_t arg2, PyObject* obj,
                     PyObject* token, PyObject* data);
// What a Message refers to, None left out: references of our own, since another thread may change the Message.
struct MessageParts {
  PyObject* obj;
  PyObject* callback;
  PyObject* token;
};
MessageParts parts_of(MessageObject* message);
void release_parts(const MessageParts& parts);
Message carried_message(HandlerObject* handler, MessageObject* message, const MessageParts& parts);

Payload payload_of(const Message& message);

// Gives the references back. The calling thread is attached to the interpreter.
void release_payload(const Message& message) noexcept;
// The same for a message that was accepted and will never run: a task hears of it.
void drop_posted(const Message& message) noexcept;
void drop_sent(const Message& message) noexcept;
void drop_carried(const Message& message) noexcept;
void drop_native(const Message& message) noexcept;

// For tp_traverse.
int visit_payload(const Message& message, visitproc visit, void* arg);

}  // namespace unjank::looper
