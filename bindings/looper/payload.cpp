#include "payload.h"

#include "c_api.h"
#include "reference_cache.h"

namespace unjank::looper {

namespace {

PyObject* object(const void* pointer) { return static_cast<PyObject*>(const_cast<void*>(pointer)); }

const void* new_reference(PyObject* object) {
  Py_XINCREF(object);
  return object;
}

const void* take(const void* pointer, Mark mark, std::int64_t& marks) {
  if (pointer == nullptr) return nullptr;
  bool pooled = false;
  references::take(object(pointer), pooled);
  if (pooled) marks |= mark;
  return pointer;
}

void own_callable(Message& message, PyObject* callable) {
  const CallableIdentity identity = identify(callable);
  message.callback = identity.function;
  message.receiver = identity.receiver;
  if (identity.builtin) {
    message.arg2 |= kBuiltin;
    return;
  }
  take(identity.function, kPooledFunction, message.arg2);
  take(identity.receiver, kPooledReceiver, message.arg2);
}

// Handlers always go through the stocks: they are what threads share, and live long.
const void* own_target(HandlerObject* handler) {
  bool pooled = false;
  references::take(reinterpret_cast<PyObject*>(handler), pooled);
  return handler;
}

void disown_callable(const Message& message) {
  if (message.arg2 & kBuiltin) return;
  if (message.callback) references::drop(object(message.callback), message.arg2 & kPooledFunction);
  if (message.receiver) references::drop(object(message.receiver), message.arg2 & kPooledReceiver);
}

// A task's method may run anything; an exception of the caller survives it.
void tell_dropped(const Message& message) {
  if (message.callback == nullptr || message.arg2 & kBuiltin) return;
  PyObject* const task = object(message.callback);
  if (!PyObject_TypeCheck(task, types().task)) return;
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyObject* const result = PyObject_CallMethod(task, "dropped", nullptr);
  if (result == nullptr) PyErr_WriteUnraisable(task);
  Py_XDECREF(result);
  PyErr_Restore(type, value, traceback);
}

PyObject* own_unless_none(PyObject* object) { return object == Py_None ? nullptr : Py_XNewRef(object); }

void drop(const Message& message) noexcept {
  tell_dropped(message);
  release_payload(message);
}

}  // namespace

void fill_posted(Message& message, HandlerObject* handler, PyObject* callable, PyObject* token, PyObject* arguments) {
  message.what = kPostedCode;
  message.data = arguments;
  message.release = drop_posted;
  message.flags = handler->flags;
  own_callable(message, callable);
  if (message.arg2 & kBuiltin) message.obj = new_reference(callable);
  message.target = own_target(handler);
  message.token = new_reference(token);
}

Message sent_message(HandlerObject* handler, std::int64_t what, std::int64_t arg1, std::int64_t arg2, PyObject* obj,
                     PyObject* token, PyObject* data) {
  Message message{.what = what, .arg1 = arg1, .arg2 = arg2, .release = drop_sent, .flags = handler->flags};
  message.target = own_target(handler);
  message.obj = new_reference(obj);
  message.token = new_reference(token != nullptr ? token : obj);
  message.data = const_cast<void*>(new_reference(data));
  return message;
}

MessageParts parts_of(MessageObject* message) {
  MessageParts parts;
  UNJANK_BEGIN_CRITICAL_SECTION(message);
  parts = {own_unless_none(message->obj), own_unless_none(message->callback), own_unless_none(message->token)};
  UNJANK_END_CRITICAL_SECTION();
  return parts;
}

void release_parts(const MessageParts& parts) {
  Py_XDECREF(parts.obj);
  Py_XDECREF(parts.callback);
  Py_XDECREF(parts.token);
}

Message carried_message(HandlerObject* handler, MessageObject* carried, const MessageParts& parts) {
  Message message{.what = carried->what, .release = drop_carried, .flags = handler->flags};
  if (carried->asynchronous) message.flags |= deliqueue::kAsynchronous;
  if (parts.callback) own_callable(message, parts.callback);
  message.target = own_target(handler);
  message.obj = new_reference(parts.obj);
  message.token = new_reference(parts.token != nullptr ? parts.token : parts.obj);
  message.data = const_cast<void*>(new_reference(reinterpret_cast<PyObject*>(carried)));
  return message;
}

Payload payload_of(const Message& message) {
  if (message.release == drop_posted) return Payload::kPosted;
  if (message.release == drop_sent) return Payload::kSent;
  return message.release == drop_carried ? Payload::kCarried : Payload::kNative;
}

void release_payload(const Message& message) noexcept {
  if (payload_of(message) != Payload::kSent) disown_callable(message);
  Py_XDECREF(object(message.obj));
  Py_XDECREF(object(message.token));
  Py_XDECREF(static_cast<PyObject*>(message.data));
  references::drop(object(message.target), true);
}

void drop_posted(const Message& message) noexcept { drop(message); }
void drop_sent(const Message& message) noexcept { release_payload(message); }
void drop_carried(const Message& message) noexcept { drop(message); }

int visit_payload(const Message& message, visitproc visit, void* arg) {
  const Payload kind = payload_of(message);
  if (kind == Payload::kNative) return 0;
  if (kind == Payload::kSent || !(message.arg2 & kBuiltin)) {
    Py_VISIT(object(message.callback));
    Py_VISIT(object(message.receiver));
  }
  Py_VISIT(object(message.target));
  Py_VISIT(object(message.obj));
  Py_VISIT(object(message.token));
  Py_VISIT(static_cast<PyObject*>(message.data));
  return 0;
}

}  // namespace unjank::looper
