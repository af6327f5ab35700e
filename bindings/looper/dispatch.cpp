#include "dispatch.h"

#include <array>
#include <utility>
#include <vector>

#include "arguments.h"
#include "c_api.h"
#include "payload.h"

namespace unjank::looper {

namespace {

PyObject* object(const void* pointer) { return static_cast<PyObject*>(const_cast<void*>(pointer)); }

// receiver, *arguments
PyObject* call_method(PyObject* function, PyObject* receiver, PyObject* arguments) {
  const Py_ssize_t count = arguments == nullptr ? 0 : PyTuple_GET_SIZE(arguments);
  std::array<PyObject*, 8> few;
  std::vector<PyObject*> many(count + 1 > static_cast<Py_ssize_t>(few.size()) ? count + 1 : 0);
  PyObject** stack = many.empty() ? few.data() : many.data();
  stack[0] = receiver;
  for (Py_ssize_t i = 0; i < count; ++i) stack[i + 1] = PyTuple_GET_ITEM(arguments, i);
  return PyObject_Vectorcall(function, stack, count + 1, nullptr);
}

PyObject* call_posted(const Message& message) {
  PyObject* const arguments = static_cast<PyObject*>(message.data);
  if (!(message.arg2 & kBuiltin) && message.receiver) {
    return call_method(object(message.callback), object(message.receiver), arguments);
  }
  PyObject* const callable = object(message.arg2 & kBuiltin ? message.obj : message.callback);
  return arguments == nullptr ? PyObject_CallNoArgs(callable) : PyObject_CallObject(callable, arguments);
}

// ---- messages -----------------------------------------------------------------------------------------------------

void set(PyObject*& member, const void* value) { Py_XSETREF(member, Py_XNewRef(object(value))); }

bool sole_owner(PyObject* object) {
#ifdef Py_GIL_DISABLED
  return object->ob_tid == _Py_ThreadId() && object->ob_ref_local == 1 && object->ob_ref_shared == 0;
#else
  return Py_REFCNT(object) == 1;
#endif
}

// The Message that shows a sent one to Python; reused if nobody kept it.
PyObject* show(LooperObject* looper, const Message& message) {
  PyObject* shown = std::exchange(looper->spare_message, nullptr);
  if (shown == nullptr) shown = PyObject_CallNoArgs(reinterpret_cast<PyObject*>(types().message));
  if (shown == nullptr) return nullptr;
  MessageObject* const fields = as_message(shown);
  fields->what = message.what;
  fields->arg1 = message.arg1;
  fields->arg2 = message.arg2;
  set(fields->obj, message.obj);
  set(fields->token, message.token);
  set(fields->data, message.data);
  return shown;
}

void put_back(LooperObject* looper, PyObject* shown) {
  MessageObject* const fields = as_message(shown);
  if (looper->spare_message != nullptr || !sole_owner(shown)) {
    Py_DECREF(shown);
    return;
  }
  for (PyObject** member : {&fields->obj, &fields->token, &fields->data, &fields->callback, &fields->target}) {
    Py_CLEAR(*member);
  }
  if (sole_owner(shown) && looper->spare_message == nullptr) {
    looper->spare_message = shown;
  } else {
    Py_DECREF(shown);
  }
}

PyObject* handle(HandlerObject* handler, PyObject* message) {
  if (handler->callback != nullptr) {
    PyObject* const handled = PyObject_CallOneArg(handler->callback, message);
    if (handled == nullptr) return nullptr;
    const int done = PyObject_IsTrue(handled);
    Py_DECREF(handled);
    if (done < 0) return nullptr;
    if (done) Py_RETURN_NONE;
  }
  return PyObject_CallMethodOneArg(reinterpret_cast<PyObject*>(handler), types().handle_message, message);
}

PyObject* deliver(const Message& message, PyObject* shown) {
  MessageObject* const fields = as_message(shown);
  set(fields->target, message.target);
  fields->when = to_seconds(message.when_ns);
  return handle(as_handler(object(message.target)), shown);
}

PyObject* call_sent(LooperObject* looper, const Message& message) {
  PyObject* const shown = show(looper, message);
  if (shown == nullptr) return nullptr;
  PyObject* const result = deliver(message, shown);
  put_back(looper, shown);
  return result;
}

PyObject* call_carried(const Message& message) {
  PyObject* const carried = static_cast<PyObject*>(message.data);
  const MessageParts parts = parts_of(as_message(carried));
  PyObject* const result = parts.callback ? PyObject_CallNoArgs(parts.callback) : deliver(message, carried);
  release_parts(parts);
  return result;
}

PyObject* call(LooperObject* looper, const Message& message) {
  switch (payload_of(message)) {
    case Payload::kPosted: return call_posted(message);
    case Payload::kSent: return call_sent(looper, message);
    case Payload::kCarried: return call_carried(message);
    case Payload::kNative: break;
  }
  return call_native(message) ? Py_NewRef(Py_None) : nullptr;
}

// ---- reports ------------------------------------------------------------------------------------------------------

// What a message calls, for people to read: a new reference, None for a message that its handler handles.
PyObject* callback_of(const Message& message) {
  const Payload kind = payload_of(message);
  if (kind == Payload::kNative || kind == Payload::kSent || message.callback == nullptr) Py_RETURN_NONE;
  if (message.arg2 & kBuiltin) {
    return kind == Payload::kPosted ? Py_NewRef(object(message.obj)) : Py_NewRef(Py_None);
  }
  if (message.receiver) return PyMethod_New(object(message.callback), object(message.receiver));
  return Py_NewRef(object(message.callback));
}

// handler, callback, what, due time
PyObject* describe(const Message& message) {
  const Payload kind = payload_of(message);
  PyObject* const callback = callback_of(message);
  if (callback == nullptr) return nullptr;
  PyObject* const handler = kind == Payload::kNative ? Py_None : object(message.target);
  return Py_BuildValue("(ONLd)", handler, callback, kind == Payload::kPosted || kind == Payload::kNative ? 0 : message.what,
                       to_seconds(message.when_ns));
}

PyObject* take_raised() {
#if PY_VERSION_HEX >= 0x030C0000
  return PyErr_GetRaisedException();
#else
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  if (traceback != nullptr) PyException_SetTraceback(value, traceback);
  Py_XDECREF(type);
  Py_XDECREF(traceback);
  return value;
#endif
}

// Calls a method of the Python half. What goes wrong there is printed, unless it must leave the loop.
template <class... Arguments>
bool tell(LooperObject* looper, const char* method, const char* format, Arguments... arguments) {
  PyObject* const self = reinterpret_cast<PyObject*>(looper);
  PyObject* const result = PyObject_CallMethod(self, method, format, arguments...);
  if (result == nullptr) {
    if (!PyErr_ExceptionMatches(PyExc_Exception)) return false;
    PyErr_WriteUnraisable(self);
  }
  Py_XDECREF(result);
  return true;
}

bool report_exception(LooperObject* looper, const Message& message) {
  if (!PyErr_ExceptionMatches(PyExc_Exception)) return false;
  PyObject* const raised = take_raised();
  PyObject* const about = describe(message);
  const bool go_on = about != nullptr && tell(looper, "_on_exception", "OO", raised, about);
  Py_XDECREF(about);
  Py_DECREF(raised);
  return go_on;
}

bool report_slow(LooperObject* looper, const Message& message, std::int64_t late, std::int64_t took) {
  PyObject* const about = describe(message);
  const bool go_on = about != nullptr && tell(looper, "_on_slow", "Odd", about, to_seconds(late), to_seconds(took));
  Py_XDECREF(about);
  return go_on;
}

void release_keeping_exception(const Message& message) {
  if (payload_of(message) == Payload::kNative) return;
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  release_payload(message);
  PyErr_Restore(type, value, traceback);
}

// Tells the watchdog that a dispatch runs.
class Running {
 public:
  explicit Running(LoopState& state) : state_(state) { count(); }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() { count(); }

 private:
  void count() {
    state_.dispatches.store(state_.dispatches.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  LoopState& state_;
};

bool run(LooperObject* looper, const Message& message) {
  PyObject* const result = call(looper, message);
  if (result == nullptr) return report_exception(looper, message);
  Py_DECREF(result);
  return true;
}

// At the front there is no due time to be late for.
bool run_timed(LooperObject* looper, const Message& message, std::int64_t delivery_limit, std::int64_t dispatch_limit) {
  const std::int64_t began = looper->state->now_ns();
  const std::int64_t late = message.at_front() ? 0 : began - message.when_ns;
  if (!run(looper, message)) return false;
  const std::int64_t took = looper->state->now_ns() - began;
  return (late < delivery_limit && took < dispatch_limit) || report_slow(looper, message, late, took);
}

bool dispatch_quietly(LooperObject* looper, const Message& message) {
  const std::int64_t delivery_limit = looper->slow_delivery_ns.load(std::memory_order_relaxed);
  const std::int64_t dispatch_limit = looper->slow_dispatch_ns.load(std::memory_order_relaxed);
  const bool timed = delivery_limit != kNever || dispatch_limit != kNever;
  const bool go_on = timed ? run_timed(looper, message, delivery_limit, dispatch_limit) : run(looper, message);
  release_keeping_exception(message);
  return go_on;
}

// A message as a recorder is shown it, with its objects kept alive.
class Shown {
 public:
  Shown(LoopState& state, const Next& next) {
    const Message& message = next.message;
    const bool native = payload_of(message) == Payload::kNative;
    callback_ = native ? nullptr : callback_of(message);
    handler_ = native ? nullptr : Py_NewRef(object(message.target));
    const bool callable = callback_ != nullptr && callback_ != Py_None;
    view_ = {.queue = state.count_backlog(), .flow = flow_of(next.handle), .due_ns = message.when_ns,
             .real_time = state.virtual_clock() == nullptr,
             .what = native || callable ? 0 : message.what, .handler = handler_,
             .callback = native ? message.callback : callable ? callback_ : nullptr, .attached = true};
    PyErr_Clear();  // a bound method that could not be made: then there is no name to show
  }
  Shown(const Shown&) = delete;
  Shown& operator=(const Shown&) = delete;
  ~Shown() {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    Py_XDECREF(callback_);
    Py_XDECREF(handler_);
    PyErr_Restore(type, value, traceback);
  }
  const MessageView& view() const { return view_; }

 private:
  PyObject* callback_;
  PyObject* handler_;
  MessageView view_;
};

// An exception on its way out of the loop is none of the recorder's business.
void tell_ended(const MessageHooks& hooks, const MessageView& view) {
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  hooks.dispatched(view);
  PyErr_Restore(type, value, traceback);
}

}  // namespace

bool dispatch(LooperObject* looper, const Next& next) {
  const Message& message = next.message;
  const Running running(*looper->state);
  const MessageHooks* const hooks = message_hooks();
  if (hooks == nullptr) [[likely]] return dispatch_quietly(looper, message);
  // What it calls lives until the release, and the release belongs to the run: it may take long too.
  const Shown shown(*looper->state, next);
  hooks->dispatching(shown.view());
  const bool go_on = dispatch_quietly(looper, message);
  tell_ended(*hooks, shown.view());
  return go_on;
}

}  // namespace unjank::looper
