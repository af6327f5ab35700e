// Core of Handler: posting to, and removing from, a looper's queue. This is the path of every message.
#include <Python.h>

#include <algorithm>
#include <utility>

#include "arguments.h"
#include "payload.h"
#include "types.h"

namespace unjank::looper {

namespace {

// ---- posting ------------------------------------------------------------------------------------------------------

// `callback` for a recorder: null if the handler will handle the message.
PostResult push(LoopState& state, Message& message, std::int64_t when, std::uint8_t flags, PyObject* callback) {
  message.when_ns = when;
  message.flags |= flags;
  const PostResult result = state.post(message, callback, true);
  if (!result) release_payload(message);
  return result;
}

// The same, due now.
PostResult push_now(LoopState& state, Message& message, PyObject* callback) {
  const PostResult result = state.post_now(message, callback, true);
  if (!result) release_payload(message);
  return result;
}

PyObject* answer(const PostResult& result) {
  if (result.status == PostStatus::kNoMemory) return PyErr_NoMemory();
  if (!check_wake(result.wake_errno)) return nullptr;
  return Py_NewRef(result ? Py_True : Py_False);
}

PyObject* collect(PyObject* const* args, Py_ssize_t count) {
  PyObject* const tuple = PyTuple_New(count);
  if (tuple == nullptr) return nullptr;
  for (Py_ssize_t i = 0; i < count; ++i) PyTuple_SET_ITEM(tuple, i, Py_NewRef(args[i]));
  return tuple;
}

// A method's arguments: callback, perhaps a time, then the callback's own; keyword token.
struct Post {
  LoopState* state;
  Message message;
};

// `own` positional arguments belong to the method itself, the callback first.
inline bool parse_post(PyObject* self, const char* method, Py_ssize_t own, PyObject* const* args, Py_ssize_t count,
                PyObject* keywords, Post& post) {
  post.state = state_of(as_handler(self));
  if (post.state == nullptr) return false;
  if (count < own) {
    PyErr_Format(PyExc_TypeError, "%s() needs %s", method, own == 1 ? "a callback" : "a callback and a time in seconds");
    return false;
  }
  PyObject* token;
  if (!check_callable(args[0], method) || !parse_token(method, args + count, keywords, token)) return false;
  PyObject* arguments = nullptr;
  if (count > own && (arguments = collect(args + own, count - own)) == nullptr) return false;
  fill_posted(post.message, as_handler(self), args[0], token, arguments);
  return true;
}

PyObject* post(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  Post it;
  if (!parse_post(self, "post", 1, args, count, keywords, it)) return nullptr;
  return answer(push_now(*it.state, it.message, args[0]));
}

PyObject* post_at_front(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  Post it;
  if (!parse_post(self, "post_at_front", 1, args, count, keywords, it)) return nullptr;
  return answer(push(*it.state, it.message, it.state->now_ns(), deliqueue::kAtFront, args[0]));
}

PyObject* post_delayed(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  std::int64_t delay = 0;
  Post it;
  if (count > 1 && !parse_seconds(args[1], "delay", delay)) return nullptr;
  if (!parse_post(self, "post_delayed", 2, args, count, keywords, it)) return nullptr;
  if (delay <= 0) return answer(push_now(*it.state, it.message, args[0]));
  return answer(push(*it.state, it.message, deadline_after(it.state->now_ns(), delay), 0, args[0]));
}

PyObject* post_at(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  std::int64_t when = 0;
  Post it;
  if (count > 1 && !parse_seconds(args[1], "when", when)) return nullptr;
  if (!parse_post(self, "post_at", 2, args, count, keywords, it)) return nullptr;
  it.state->expect_at(when);
  return answer(push(*it.state, it.message, when, 0, args[0]));
}

PyObject* schedule(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  std::int64_t delay = 0;
  Post it;
  if (count > 1 && !parse_seconds(args[1], "delay", delay)) return nullptr;
  if (!parse_post(self, "schedule", 2, args, count, keywords, it)) return nullptr;
  const std::int64_t when = deadline_after(it.state->now_ns(), delay);
  const PostResult result = push(*it.state, it.message, when, 0, args[0]);
  if (result.status == PostStatus::kNoMemory) return PyErr_NoMemory();
  if (!check_wake(result.wake_errno)) return nullptr;
  return make_posted(as_handler(self)->looper, result, when, false);
}

// ---- sending ------------------------------------------------------------------------------------------------------

bool parse_codes(PyObject* const* given, std::int64_t* codes) {
  constexpr const char* kNames[] = {"what", "arg1", "arg2"};
  for (int i = 0; i < 3; ++i) {
    codes[i] = 0;
    if (given[i] != nullptr && !parse_code(given[i], kNames[i], codes[i])) return false;
  }
  return true;
}

PyObject* send(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  constexpr const char* kNames[] = {"what", "arg1", "arg2", "obj", "data", "delay", "token"};
  PyObject* given[7];
  std::int64_t codes[3];
  std::int64_t delay = 0;
  LoopState* const state = state_of(as_handler(self));
  if (state == nullptr || !parse_named("send", args, count, keywords, kNames, 7, 1, 4, given) ||
      !parse_codes(given, codes) || (given[5] != nullptr && !parse_seconds(given[5], "delay", delay))) {
    return nullptr;
  }
  for (int i : {3, 4, 6}) given[i] = given[i] == nullptr ? nullptr : none_as_null(given[i]);
  Message message = sent_message(as_handler(self), codes[0], codes[1], codes[2], given[3], given[6], given[4]);
  return answer(push(*state, message, deadline_after(state->now_ns(), delay), 0, nullptr));
}

// The Message to send.
MessageObject* parse_message(const char* method, PyObject* object) {
  if (!PyObject_TypeCheck(object, types().message)) {
    PyErr_Format(PyExc_TypeError, "%s() needs a Message, not %.100s; to send a code, call send(what, ...)", method,
                 Py_TYPE(object)->tp_name);
    return nullptr;
  }
  return as_message(object);
}

PyObject* push_carried(PyObject* self, const char* method, MessageObject* carried, LoopState& state,
                       std::int64_t when, std::uint8_t flags) {
  const MessageParts parts = parts_of(carried);
  PyObject* answered = nullptr;
  if (parts.callback == nullptr || check_callable(parts.callback, method)) {
    Message message = carried_message(as_handler(self), carried, parts);
    answered = answer(push(state, message, when, flags, parts.callback));
  }
  release_parts(parts);
  return answered;
}

PyObject* send_message(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  constexpr const char* kNames[] = {"message", "delay"};
  PyObject* given[2];
  std::int64_t delay = 0;
  LoopState* const state = state_of(as_handler(self));
  if (state == nullptr || !parse_named("send_message", args, count, keywords, kNames, 2, 1, 2, given)) return nullptr;
  if (given[1] != nullptr && !parse_seconds(given[1], "delay", delay)) return nullptr;
  MessageObject* const message = parse_message("send_message", given[0]);
  if (message == nullptr) return nullptr;
  return push_carried(self, "send_message", message, *state, deadline_after(state->now_ns(), delay), 0);
}

PyObject* send_message_at(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  constexpr const char* kNames[] = {"message", "when"};
  PyObject* given[2];
  std::int64_t when = 0;
  LoopState* const state = state_of(as_handler(self));
  if (state == nullptr || !parse_named("send_message_at", args, count, keywords, kNames, 2, 2, 2, given)) {
    return nullptr;
  }
  MessageObject* const message = parse_message("send_message_at", given[0]);
  if (message == nullptr || !parse_seconds(given[1], "when", when)) return nullptr;
  state->expect_at(when);
  return push_carried(self, "send_message_at", message, *state, when, 0);
}

PyObject* send_message_at_front(PyObject* self, PyObject* object) {
  LoopState* const state = state_of(as_handler(self));
  if (state == nullptr) return nullptr;
  MessageObject* const message = parse_message("send_message_at_front", object);
  if (message == nullptr) return nullptr;
  return push_carried(self, "send_message_at_front", message, *state, state->now_ns(), deliqueue::kAtFront);
}

// ---- removing -----------------------------------------------------------------------------------------------------

PyObject* remove(LoopState& state, const Criteria& criteria) {
  if (state.inherited()) return PyLong_FromLong(0);
  const RemoveResult result = state.announced(state.queue->remove(criteria));
  return check_wake(result.wake_errno) ? PyLong_FromSize_t(result.count) : nullptr;
}

PyObject* has(LoopState& state, const Criteria& criteria) {
  return PyBool_FromLong(!state.inherited() && state.queue->has(criteria));
}

// what, obj=None
bool parse_message_criteria(PyObject* self, const char* method, PyObject* const* args, Py_ssize_t count,
                            PyObject* keywords, Criteria& criteria) {
  constexpr const char* kNames[] = {"what", "obj"};
  PyObject* given[2];
  if (!parse_named(method, args, count, keywords, kNames, 2, 1, 2, given)) return false;
  criteria = {.target = self, .fields = Criteria::kWhat};
  if (!parse_code(given[0], "what", criteria.what)) return false;
  if (given[1] == nullptr || given[1] == Py_None) return true;
  criteria.fields |= Criteria::kObj;
  criteria.obj = given[1];
  return true;
}

// callback, token=None
bool parse_callback_criteria(PyObject* self, const char* method, PyObject* const* args, Py_ssize_t count,
                             PyObject* keywords, Criteria& criteria) {
  constexpr const char* kNames[] = {"callback", "token"};
  PyObject* given[2];
  if (!parse_named(method, args, count, keywords, kNames, 2, 1, 2, given) || !check_callable(given[0], method)) {
    return false;
  }
  const CallableIdentity identity = identify(given[0]);
  criteria = {.target = self, .fields = Criteria::kCallback | Criteria::kReceiver, .callback = identity.function,
              .receiver = identity.receiver};
  if (given[1] == nullptr || given[1] == Py_None) return true;
  criteria.fields |= Criteria::kToken;
  criteria.token = given[1];
  return true;
}

PyObject* remove_messages(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  LoopState* const state = state_of(as_handler(self));
  Criteria criteria;
  if (state == nullptr || !parse_message_criteria(self, "remove_messages", args, count, keywords, criteria)) {
    return nullptr;
  }
  return remove(*state, criteria);
}

PyObject* has_messages(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  LoopState* const state = state_of(as_handler(self));
  Criteria criteria;
  if (state == nullptr || !parse_message_criteria(self, "has_messages", args, count, keywords, criteria)) {
    return nullptr;
  }
  return has(*state, criteria);
}

PyObject* remove_callbacks(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  LoopState* const state = state_of(as_handler(self));
  Criteria criteria;
  if (state == nullptr || !parse_callback_criteria(self, "remove_callbacks", args, count, keywords, criteria)) {
    return nullptr;
  }
  return remove(*state, criteria);
}

PyObject* has_callbacks(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  LoopState* const state = state_of(as_handler(self));
  Criteria criteria;
  if (state == nullptr || !parse_callback_criteria(self, "has_callbacks", args, count, keywords, criteria)) {
    return nullptr;
  }
  return has(*state, criteria);
}

PyObject* remove_all(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  constexpr const char* kNames[] = {"token"};
  PyObject* token;
  LoopState* const state = state_of(as_handler(self));
  if (state == nullptr || !parse_named("remove_all", args, count, keywords, kNames, 1, 0, 1, &token)) return nullptr;
  Criteria criteria{.target = self};
  if (token != nullptr && token != Py_None) {
    criteria.fields = Criteria::kToken;
    criteria.token = token;
  }
  return remove(*state, criteria);
}

// ---- the object ---------------------------------------------------------------------------------------------------

bool check_init(PyObject* looper, PyObject* callback) {
  if (!PyObject_TypeCheck(looper, types().looper)) {
    PyErr_Format(PyExc_TypeError, "Handler() needs a Looper, not %.100s; for a HandlerThread pass its .looper",
                 Py_TYPE(looper)->tp_name);
    return false;
  }
  return state_of(as_looper(looper)) != nullptr && (callback == nullptr || check_callable(callback, "Handler"));
}

int initialise(PyObject* self, PyObject* args, PyObject* keywords) {
  static const char* names[] = {"looper", "callback", "asynchronous", nullptr};
  PyObject *looper, *callback = nullptr;
  int asynchronous = 0;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|O$p:Handler", const_cast<char**>(names), &looper, &callback,
                                   &asynchronous)) {
    return -1;
  }
  if (callback == Py_None) callback = nullptr;
  if (!check_init(looper, callback)) return -1;
  HandlerObject* const handler = as_handler(self);
  if (handler->looper != nullptr) {
    PyErr_SetString(types().error, "a handler's looper cannot be changed; make a new Handler");
    return -1;
  }
  handler->callback = Py_XNewRef(callback);
  handler->flags = asynchronous ? deliqueue::kAsynchronous : 0;
  handler->looper = as_looper(Py_NewRef(looper));
  return 0;
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(reinterpret_cast<PyObject*>(as_handler(self)->looper));
  Py_VISIT(as_handler(self)->callback);
  return 0;
}

int clear(PyObject* self) {
  Py_CLEAR(as_handler(self)->callback);
  PyObject* const looper = reinterpret_cast<PyObject*>(std::exchange(as_handler(self)->looper, nullptr));
  Py_XDECREF(looper);
  return 0;
}

void destroy(PyObject* self) {
  PyObject_GC_UnTrack(self);
  PyTypeObject* const type = Py_TYPE(self);
  clear(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* get_looper(PyObject* self, void*) {
  return state_of(as_handler(self)) == nullptr
             ? nullptr
             : Py_NewRef(reinterpret_cast<PyObject*>(as_handler(self)->looper));
}

PyObject* get_asynchronous(PyObject* self, void*) { return PyBool_FromLong(as_handler(self)->flags != 0); }

PyObject* refuse(PyObject* self, PyObject*) {
  return refuse_pickling(self, "send the other process plain data and let it make its own Handler");
}

constexpr int kFast = METH_FASTCALL | METH_KEYWORDS;

PyMethodDef methods[] = {
    {"post", as_method(post), kFast,
     "post($self, callback, /, *args, token=None)\n--\n\nRuns callback(*args) on the looper's thread. False if it has quit."},
    {"post_delayed", as_method(post_delayed), kFast,
     "post_delayed($self, callback, delay, /, *args, token=None)\n--\n\nThe same after `delay` seconds; at once if negative."},
    {"post_at", as_method(post_at), kFast,
     "post_at($self, callback, when, /, *args, token=None)\n--\n\nThe same at `when` seconds of time.monotonic()."},
    {"post_at_front", as_method(post_at_front), kFast,
     "post_at_front($self, callback, /, *args, token=None)\n--\n\nThe same before all that is pending."},
    {"schedule", as_method(schedule), kFast,
     "schedule($self, callback, delay, /, *args, token=None)\n--\n\nLike post_delayed(); the answer can be cancelled in O(1)."},
    {"send", as_method(send), kFast,
     "send($self, what, arg1=0, arg2=0, obj=None, *, data=None, delay=0.0, token=None)\n--\n\n"
     "Has handle_message() called with a message of these values. False if the looper has quit."},
    {"send_message", as_method(send_message), kFast,
     "send_message($self, message, delay=0.0)\n--\n\nSends a Message, which handle_message() is given."},
    {"send_message_at", as_method(send_message_at), kFast,
     "send_message_at($self, message, when)\n--\n\nThe same at `when` seconds of time.monotonic()."},
    {"send_message_at_front", send_message_at_front, METH_O,
     "send_message_at_front($self, message, /)\n--\n\nThe same before all that is pending."},
    {"remove_messages", as_method(remove_messages), kFast,
     "remove_messages($self, what, obj=None)\n--\n\nRemoves this handler's messages with this code; how many. "
     "None is any obj, others are compared by identity."},
    {"remove_callbacks", as_method(remove_callbacks), kFast,
     "remove_callbacks($self, callback, token=None)\n--\n\nRemoves this handler's posts of the callback; how many."},
    {"remove_all", as_method(remove_all), kFast,
     "remove_all($self, token=None)\n--\n\nRemoves this handler's messages and callbacks with the token, or all of them; how many."},
    {"has_messages", as_method(has_messages), kFast,
     "has_messages($self, what, obj=None)\n--\n\nWhether remove_messages() would find one."},
    {"has_callbacks", as_method(has_callbacks), kFast,
     "has_callbacks($self, callback, token=None)\n--\n\nWhether remove_callbacks() would find one."},
    {"__reduce__", refuse, METH_NOARGS, "A handler cannot be pickled."},
    {nullptr, nullptr, 0, nullptr},
};

PyGetSetDef properties[] = {
    {"looper", get_looper, nullptr, "The looper whose thread runs what is posted here.", nullptr},
    {"asynchronous", get_asynchronous, nullptr, "Whether its messages pass sync barriers.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"  // the C API keeps functions in void pointers
PyType_Slot slots[] = {
    {Py_tp_init, as_slot(initialise)},
    {Py_tp_new, as_slot(PyType_GenericNew)},
    {Py_tp_dealloc, as_slot(destroy)},
    {Py_tp_traverse, as_slot(traverse)},
    {Py_tp_clear, as_slot(clear)},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {Py_tp_doc, const_cast<char*>("The native core of Handler.")},
    {0, nullptr},
};
#pragma GCC diagnostic pop

PyType_Spec spec = {
    .name = "unjank._looper.HandlerCore",
    .basicsize = sizeof(HandlerObject),
    .itemsize = 0,
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .slots = slots,
};

}  // namespace

PyTypeObject* make_handler_type() { return reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec)); }

LoopState* state_of(HandlerObject* handler) {
  if (handler->looper != nullptr) return handler->looper->state.get();
  PyErr_SetString(types().error, "this handler was not initialised; call super().__init__(looper) in its __init__");
  return nullptr;
}

}  // namespace unjank::looper
