// Core of Looper: what touches the native queue. Its subclass in Python has idle handlers, listeners and observers.
#include <Python.h>
#include <structmember.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "arguments.h"
#include "payload.h"
#include "run_loop.h"
#include "types.h"

namespace unjank::looper {

namespace {

// ---- running ------------------------------------------------------------------------------------------------------

bool check_thread(LooperObject* self, const char* method) {
  if (self->thread == PyThread_get_thread_ident()) return true;
  PyErr_Format(types().error,
               "%s() was called on another thread than the looper's; call it there, for instance by posting it", method);
  return false;
}

LoopState* begin_running(LooperObject* self, const char* method) {
  LoopState* const state = state_of(self);
  if (state == nullptr || !check_thread(self, method)) return nullptr;
  if (self->running) {
    PyErr_Format(types().error, "%s() was called by something that this looper runs; return, and the loop goes on", method);
    return nullptr;
  }
  if (state->closed()) {
    PyErr_SetString(types().error, "this looper has quit; make a new one with Looper.prepare()");
    return nullptr;
  }
  self->running = true;
  return state;
}

PyObject* run(PyObject* self, PyObject*) {
  LooperObject* const looper = as_looper(self);
  LoopState* const state = begin_running(looper, "run");
  if (state == nullptr) return nullptr;
  bool ended = false;
  if (state->virtual_clock() != nullptr) {
    PyErr_SetString(types().error, "this looper has a virtual clock, which stands still; drive it with a LooperDriver");
  } else {
    ended = run_loop(looper);
  }
  looper->running = false;
  if (!ended) return nullptr;
  Py_RETURN_NONE;
}

// How long step() may sleep, from its only argument.
bool parse_limit(LoopState& state, PyObject* value, std::int64_t& limit) {
  if (!parse_seconds(value, "limit", limit)) return false;
  if (limit <= 0 || state.virtual_clock() == nullptr) return true;
  PyErr_SetString(types().error, "a virtual clock stands still while its looper waits; advance it instead");
  return false;
}

PyObject* step_once(PyObject* self, PyObject* limit_seconds) {
  LooperObject* const looper = as_looper(self);
  LoopState* const state = begin_running(looper, "step");
  if (state == nullptr) return nullptr;
  std::int64_t limit = 0;
  const Step found = parse_limit(*state, limit_seconds, limit) ? step(looper, limit) : Step::kRaised;
  looper->running = false;
  return found == Step::kRaised ? nullptr : PyBool_FromLong(found == Step::kDispatched);
}

PyObject* next_due(PyObject* self, PyObject*) {
  LoopState* const state = state_of(as_looper(self));
  if (state == nullptr || !check_thread(as_looper(self), "next_due")) return nullptr;
  const std::int64_t due = state->inherited() || state->closed() ? kForever : state->queue->next_due();
  if (due >= kForever) Py_RETURN_NONE;
  return PyFloat_FromDouble(to_seconds(due));
}

PyObject* advance(PyObject* self, PyObject* seconds) {
  LoopState* const state = state_of(as_looper(self));
  std::int64_t by;
  if (state == nullptr || !parse_seconds(seconds, "seconds", by)) return nullptr;
  if (state->virtual_clock() == nullptr || by < 0 || by >= kForever - state->now_ns()) {
    PyErr_SetString(types().error, "only a virtual clock can be advanced, and only forward: LooperDriver() makes one");
    return nullptr;
  }
  state->virtual_clock()->advance(by);
  Py_RETURN_NONE;
}

// ---- any thread ---------------------------------------------------------------------------------------------------

PyObject* quit_as(PyObject* self, QuitMode mode) {
  LoopState* const state = state_of(as_looper(self));
  if (state == nullptr) return nullptr;
  if (!state->inherited() && !check_wake(state->queue->quit(mode))) return nullptr;
  Py_RETURN_NONE;
}

PyObject* quit(PyObject* self, PyObject*) { return quit_as(self, QuitMode::kDrop); }
PyObject* quit_safely(PyObject* self, PyObject*) { return quit_as(self, QuitMode::kSafe); }

PyObject* shut_down_now(PyObject* self, PyObject*) {
  if (state_of(as_looper(self)) == nullptr || !check_thread(as_looper(self), "_shut_down")) return nullptr;
  shut_down(as_looper(self));
  Py_RETURN_NONE;
}

PyObject* is_idle(PyObject* self, PyObject*) {
  LoopState* const state = state_of(as_looper(self));
  return state == nullptr ? nullptr : PyBool_FromLong(state->inherited() || !state->queue->has_due());
}

PyObject* now(PyObject* self, PyObject*) {
  LoopState* const state = state_of(as_looper(self));
  return state == nullptr ? nullptr : PyFloat_FromDouble(to_seconds(state->now_ns()));
}

PyObject* wake(PyObject* self, PyObject*) {
  LoopState* const state = state_of(as_looper(self));
  if (state == nullptr || (!state->inherited() && !check_wake(state->queue->wake()))) return nullptr;
  Py_RETURN_NONE;
}

PyObject* post_sync_barrier(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  constexpr const char* kNames[] = {"when"};
  PyObject* given;
  LoopState* const state = state_of(as_looper(self));
  if (state == nullptr || !parse_named("post_sync_barrier", args, count, keywords, kNames, 1, 0, 1, &given)) return nullptr;
  std::int64_t when = state->now_ns();
  if (given != nullptr && given != Py_None) {
    if (!parse_seconds(given, "when", when)) return nullptr;
    state->expect_at(when);
  }
  const PostResult result = state->inherited() ? PostResult{PostStatus::kQuit} : state->queue->post_barrier(when);
  if (result.status == PostStatus::kNoMemory) return PyErr_NoMemory();
  return make_posted(as_looper(self), result, when, true);
}

// (due time, handler id, what, callback id, asynchronous, at front, barrier), newest post first
PyObject* pending(PyObject* self, PyObject*) {
  LoopState* const state = state_of(as_looper(self));
  if (state == nullptr) return nullptr;
  std::vector<Sighting> seen;
  if (!state->inherited()) state->queue->look([&](const Sighting& sighting) { seen.push_back(sighting); });
  PyObject* const list = PyList_New(0);
  for (const Sighting& s : seen) {
    PyObject* const row = Py_BuildValue(
        "(dKLKiii)", to_seconds(s.when_ns), reinterpret_cast<unsigned long long>(s.target),
        static_cast<long long>(s.what == kPostedCode ? 0 : s.what), reinterpret_cast<unsigned long long>(s.callback),
        s.flags & deliqueue::kAsynchronous ? 1 : 0, s.flags & deliqueue::kAtFront ? 1 : 0, s.barrier ? 1 : 0);
    if (list == nullptr || row == nullptr || PyList_Append(list, row) < 0) {
      Py_XDECREF(row);
      Py_XDECREF(list);
      return nullptr;
    }
    Py_DECREF(row);
  }
  return list;
}

// ---- descriptors --------------------------------------------------------------------------------------------------

PyObject* answer_control(int error, const char* what, int fd) {
  if (error == 0) Py_RETURN_NONE;
  const char* const way_out =
      error == EPERM    ? "the kernel cannot wait for files of this kind, only for sockets, pipes and the like"
      : error == EBADF  ? "it is closed; remove the listener before you close the descriptor"
      : error == ENOENT ? "it was closed, or closed and opened anew, behind the looper's back"
      : error == EEXIST ? "it has a listener already; remove that first"
      : error == ESHUTDOWN ? "the looper has quit; make a new one with Looper.prepare()"
                           : std::strerror(error);
  PyErr_Format(types().error, "cannot %s descriptor %d: %s", what, fd, way_out);
  return nullptr;
}

// fd, readiness, id
bool parse_control(PyObject* self, const char* format, PyObject* args, LoopState*& state, int& fd, unsigned& readiness,
                   unsigned long long& id) {
  state = state_of(as_looper(self));
  if (state == nullptr || !PyArg_ParseTuple(args, format, &fd, &readiness, &id)) return false;
  if (!state->inherited()) return true;
  PyErr_SetString(types().error, "this looper belongs to the parent process; make a new one with Looper.prepare()");
  return false;
}

PyObject* listen(PyObject* self, PyObject* args) {
  LoopState* state;
  int fd;
  unsigned readiness;
  unsigned long long id;
  if (!parse_control(self, "iIK", args, state, fd, readiness, id)) return nullptr;
  return answer_control(state->listen(fd, readiness, id), "listen to", fd);
}

PyObject* change(PyObject* self, PyObject* args) {
  LoopState* state;
  int fd;
  unsigned readiness;
  unsigned long long id;
  if (!parse_control(self, "iIK", args, state, fd, readiness, id)) return nullptr;
  return answer_control(state->change(fd, readiness, id), "change what it listens for on", fd);
}

PyObject* forget(PyObject* self, PyObject* args) {
  LoopState* state;
  int fd;
  unsigned readiness = 0;
  unsigned long long id = 0;
  if (!parse_control(self, "i", args, state, fd, readiness, id)) return nullptr;
  return answer_control(state->forget(fd), "stop listening to", fd);
}

// ---- the object ---------------------------------------------------------------------------------------------------

PyObject* construct(PyTypeObject* type, PyObject*, PyObject*) {
  PyObject* const self = type->tp_alloc(type, 0);
  if (self == nullptr) return nullptr;
  LooperObject* const looper = as_looper(self);
  new (&looper->state) std::shared_ptr<LoopState>();
  looper->slow_delivery_ns = looper->slow_dispatch_ns = kNever;
  looper->signal_fd = -1;
  return self;
}

bool parse_kind(const char* name, QueueKind& kind) {
  if (std::strcmp(name, "lockfree") == 0) {
    kind = QueueKind::kLockFree;
  } else if (std::strcmp(name, "locked") == 0) {
    kind = QueueKind::kLocked;
  } else {
    PyErr_Format(types().error, "queue='%s' is not known; use 'lockfree' or 'locked'", name);
    return false;
  }
  return true;
}

int initialise(PyObject* self, PyObject* args, PyObject* keywords) {
  static const char* names[] = {"queue", "virtual_clock", nullptr};
  const char* queue = "lockfree";
  int virtual_clock = 0;
  QueueKind kind;
  LooperObject* const looper = as_looper(self);
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "|sp:Looper", const_cast<char**>(names), &queue, &virtual_clock) ||
      !parse_kind(queue, kind)) {
    return -1;
  }
  if (looper->state) {
    PyErr_SetString(types().error, "a looper cannot be initialised twice");
    return -1;
  }
  auto state = std::make_shared<LoopState>(kind, virtual_clock != 0);
  if (const int error = state->open(); error != 0) {
    errno = error;
    PyErr_SetFromErrno(PyExc_OSError);
    return -1;
  }
  looper->state = std::move(state);
  looper->thread = PyThread_get_thread_ident();
  return 0;
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  const LooperObject* const looper = as_looper(self);
  Py_VISIT(looper->spare_message);
  if (!looper->state || looper->state->inherited()) return 0;
  int stopped = 0;
  looper->state->queue->look_at_payloads([&](const Message& message) {
    if (stopped == 0) stopped = visit_payload(message, visit, arg);
  });
  return stopped;
}

int clear(PyObject* self) {
  Py_CLEAR(as_looper(self)->spare_message);
  return 0;
}

// Before the collector breaks anything: what is pending is dropped while it is whole.
void finalise(PyObject* self) {
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  shut_down(as_looper(self));
  PyErr_Restore(type, value, traceback);
}

void destroy(PyObject* self) {
  if (PyObject_CallFinalizerFromDealloc(self) < 0) return;
  PyObject_GC_UnTrack(self);
  PyTypeObject* const type = Py_TYPE(self);
  LooperObject* const looper = as_looper(self);
  clear(self);
  // In a forked child other threads may have left the queue half changed: it is not touched.
  if (looper->state && looper->state->inherited()) new std::shared_ptr<LoopState>(looper->state);
  looper->state.~shared_ptr();
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* refuse(PyObject* self, PyObject*) {
  return refuse_pickling(self, "it belongs to a thread; let the other process make its own with Looper.prepare()");
}

PyObject* quitting(PyObject* self, void*) {
  LoopState* const state = state_of(as_looper(self));
  return state == nullptr ? nullptr : PyBool_FromLong(state->inherited() || state->queue->quitting());
}
PyObject* inherited(PyObject* self, void*) {
  LoopState* const state = state_of(as_looper(self));
  return state == nullptr ? nullptr : PyBool_FromLong(state->inherited());
}
PyObject* closed(PyObject* self, void*) {
  LoopState* const state = state_of(as_looper(self));
  return state == nullptr ? nullptr : PyBool_FromLong(state->inherited() || state->closed());
}
PyObject* queue_name(PyObject* self, void*) {
  LoopState* const state = state_of(as_looper(self));
  return state == nullptr ? nullptr : PyUnicode_FromString(state->kind == QueueKind::kLocked ? "locked" : "lockfree");
}
PyObject* dispatches(PyObject* self, void*) {
  LoopState* const state = state_of(as_looper(self));
  return state == nullptr ? nullptr : PyLong_FromUnsignedLongLong(state->dispatches.load(std::memory_order_relaxed));
}
PyObject* thread(PyObject* self, void*) { return PyLong_FromUnsignedLong(as_looper(self)->thread); }
PyObject* running(PyObject* self, void*) { return PyBool_FromLong(as_looper(self)->running); }

// ---- switches of the Python half ----------------------------------------------------------------------------------

PyObject* set_idle_handlers(PyObject* self, PyObject* value) {
  as_looper(self)->has_idle_handlers.store(PyObject_IsTrue(value) == 1, std::memory_order_relaxed);
  Py_RETURN_NONE;
}

PyObject* set_signal_fd(PyObject* self, PyObject* value) {
  const long fd = PyLong_AsLong(value);
  if (fd == -1 && PyErr_Occurred()) return nullptr;
  as_looper(self)->signal_fd = static_cast<int>(fd);
  Py_RETURN_NONE;
}

// Seconds or None, None
PyObject* set_thresholds(PyObject* self, PyObject* args) {
  PyObject* limits[2];
  std::int64_t ns[2] = {kNever, kNever};
  if (!PyArg_ParseTuple(args, "OO", &limits[0], &limits[1])) return nullptr;
  for (int i = 0; i < 2; ++i) {
    if (limits[i] != Py_None && !parse_seconds(limits[i], "threshold", ns[i])) return nullptr;
  }
  as_looper(self)->slow_delivery_ns.store(ns[0], std::memory_order_relaxed);
  as_looper(self)->state->time_posts_for(LoopState::kObserver, ns[0] != kNever);
  as_looper(self)->slow_dispatch_ns.store(ns[1], std::memory_order_relaxed);
  Py_RETURN_NONE;
}

PyMethodDef methods[] = {
    {"_run", run, METH_NOARGS, "Dispatches until the looper quits."},
    {"_step", step_once, METH_O, "Dispatches one due message, or sleeps up to so many seconds; whether it dispatched."},
    {"_next_due", next_due, METH_NOARGS, "Seconds of the looper's clock, or None."},
    {"_advance", advance, METH_O, "Moves the virtual clock."},
    {"_shut_down", shut_down_now, METH_NOARGS, "Quits, drops what is pending, and closes."},
    {"_pending", pending, METH_NOARGS, "What is pending, as numbers."},
    {"_listen", listen, METH_VARARGS, "Adds a descriptor to the poller."},
    {"_change", change, METH_VARARGS, "Changes what it is polled for."},
    {"_forget", forget, METH_VARARGS, "Takes it out of the poller."},
    {"_set_idle_handlers", set_idle_handlers, METH_O, "Whether there are any."},
    {"_set_signal_fd", set_signal_fd, METH_O, "Where signal numbers come in."},
    {"_set_thresholds", set_thresholds, METH_VARARGS, "From when on _on_slow() is called."},
    {"quit", quit, METH_NOARGS, "Ends the loop; what is pending is dropped. Later posts answer False. Any thread."},
    {"quit_safely", quit_safely, METH_NOARGS,
     "Ends the loop after all that is due by now has run; the rest is dropped. Any thread."},
    {"is_idle", is_idle, METH_NOARGS, "Whether nothing is due. Any thread."},
    {"now", now, METH_NOARGS, "The looper's clock, in seconds: time.monotonic(), unless it is virtual."},
    {"wake", wake, METH_NOARGS, "Makes a sleeping looper look round. Never needed after a post."},
    {"post_sync_barrier", as_method(post_sync_barrier), METH_FASTCALL | METH_KEYWORDS,
     "post_sync_barrier($self, when=None)\n--\n\nFrom `when` (now) on, only asynchronous messages run, until the "
     "answer's cancel()."},
    {"__reduce__", refuse, METH_NOARGS, "A looper cannot be pickled."},
    {nullptr, nullptr, 0, nullptr},
};

PyGetSetDef properties[] = {
    {"quitting", quitting, nullptr, "Whether quit() or quit_safely() was called.", nullptr},
    {"closed", closed, nullptr, "Whether the loop has ended.", nullptr},
    {"queue", queue_name, nullptr, "'lockfree' or 'locked'.", nullptr},
    {"thread_id", thread, nullptr, "threading.get_ident() of the looper's thread.", nullptr},
    {"_running", running, nullptr, "Whether the loop runs. Looper's thread.", nullptr},
    {"_inherited", inherited, nullptr, "Whether it was made before a fork, by the parent.", nullptr},
    {"_dispatches", dispatches, nullptr, "Begun plus ended: odd while one runs.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"  // the C API keeps functions in void pointers
PyType_Slot slots[] = {
    {Py_tp_new, as_slot(construct)},
    {Py_tp_init, as_slot(initialise)},
    {Py_tp_dealloc, as_slot(destroy)},
    {Py_tp_finalize, as_slot(finalise)},
    {Py_tp_traverse, as_slot(traverse)},
    {Py_tp_clear, as_slot(clear)},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {Py_tp_doc, const_cast<char*>("The native core of Looper.")},
    {0, nullptr},
};
#pragma GCC diagnostic pop

PyType_Spec spec = {
    .name = "unjank._looper.LooperCore",
    .basicsize = sizeof(LooperObject),
    .itemsize = 0,
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .slots = slots,
};

}  // namespace

PyTypeObject* make_looper_type() { return reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec)); }

LoopState* state_of(LooperObject* looper) {
  if (looper->state) return looper->state.get();
  PyErr_SetString(types().error, "this looper was not initialised; make loopers with Looper.prepare()");
  return nullptr;
}

}  // namespace unjank::looper
