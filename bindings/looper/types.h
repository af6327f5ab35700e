// The extension types of unjank._looper and what they share. Made once, when the module is initialised.
#pragma once

#include <Python.h>

#include <atomic>
#include <memory>

#include "loop_state.h"

namespace unjank::looper {

// Core of Looper. Python's subclass adds what is not on the path of a message.
//
//   state          creation; the pointer itself never changes, and is never null after __init__
//   spare_message  looper thread: a Message that handle_message() did not keep
//   slow_*_ns      any thread, relaxed: thresholds of observers, kNever when there are none
struct LooperObject {
  PyObject_HEAD
  std::shared_ptr<LoopState> state;
  PyObject* spare_message;
  unsigned long thread;  // threading.get_ident() of the owner
  std::atomic<bool> running;  // written by the looper thread
  std::atomic<bool> has_idle_handlers;
  std::atomic<std::int64_t> slow_delivery_ns;
  std::atomic<std::int64_t> slow_dispatch_ns;
  int signal_fd;  // readable when a signal came in; -1 unless run() is on the main thread
};

inline constexpr std::int64_t kNever = INT64_MAX;

// Core of Handler.
struct HandlerObject {
  PyObject_HEAD
  LooperObject* looper;  // strong; set once by __init__
  PyObject* callback;    // strong or null: the callback form
  std::uint8_t flags;    // kAsynchronous or 0
  std::atomic<std::uint32_t> foreign_purchases;  // reference_cache.h: proof that threads share this handler
};

struct MessageObject {
  PyObject_HEAD
  long long what;
  long long arg1;
  long long arg2;
  PyObject* obj;
  PyObject* data;
  PyObject* callback;
  PyObject* token;
  PyObject* target;
  double when;
  char asynchronous;
};

// One post that can be cancelled, or one barrier.
struct PostedObject {
  PyObject_HEAD
  LooperObject* looper;  // strong
  Handle handle;
  std::int64_t when_ns;
  bool barrier;
  bool pooled;  // how the looper is counted, see reference_cache.h
};

// Base of callables that must hear that they will never be called: release() calls their method dropped().
struct TaskObject {
  PyObject_HEAD
};

struct Types {
  PyTypeObject* looper = nullptr;
  PyTypeObject* handler = nullptr;
  PyTypeObject* message = nullptr;
  PyTypeObject* posted = nullptr;
  PyTypeObject* task = nullptr;
  PyObject* error = nullptr;           // unjank.LooperError
  PyObject* handle_message = nullptr;  // the method's name, interned
};
Types& types();

PyTypeObject* make_looper_type();
PyTypeObject* make_handler_type();
PyTypeObject* make_message_type();
PyTypeObject* make_posted_type();
PyTypeObject* make_task_type();

inline LooperObject* as_looper(PyObject* object) { return reinterpret_cast<LooperObject*>(object); }
inline HandlerObject* as_handler(PyObject* object) { return reinterpret_cast<HandlerObject*>(object); }
inline MessageObject* as_message(PyObject* object) { return reinterpret_cast<MessageObject*>(object); }
inline PostedObject* as_posted(PyObject* object) { return reinterpret_cast<PostedObject*>(object); }

// Null and LooperError if __init__ did not run.
LoopState* state_of(LooperObject* looper);
LoopState* state_of(HandlerObject* handler);

// Posted or null with an exception set. The looper's refusal gives an object that is false.
PyObject* make_posted(LooperObject* looper, const PostResult& result, std::int64_t when_ns, bool barrier);
// A wake-up that could not be written, as LooperError. False if `wake_errno` is not 0.
bool check_wake(int wake_errno);

// One thread at a time in an object's fields, where there is no GIL to see to that.
#if PY_VERSION_HEX >= 0x030D0000
#define UNJANK_BEGIN_CRITICAL_SECTION(object) Py_BEGIN_CRITICAL_SECTION(object)
#define UNJANK_END_CRITICAL_SECTION() Py_END_CRITICAL_SECTION()
#else
#define UNJANK_BEGIN_CRITICAL_SECTION(object) {
#define UNJANK_END_CRITICAL_SECTION() }
#endif

// Functions of other shapes than PyCFunction, for a method table whose flags tell the shape.
template <class Function>
PyCFunction as_method(Function* function) {
  // By way of a neutral function type, which compilers take as the sign that the cast is meant.
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}
template <class Function>
void* as_slot(Function* function) {
  return reinterpret_cast<void*>(function);
}

// For kinds of heap types that nobody may pickle: sets the TypeError and returns null.
PyObject* refuse_pickling(PyObject* self, const char* way_out);

}  // namespace unjank::looper
