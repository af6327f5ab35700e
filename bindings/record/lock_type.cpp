// Recorded twin of _thread.lock.
#include <Python.h>

#include "blocking.h"
#include "lock_object.h"
#include "lock_types.h"
#include "method_table.h"
#include "naming.h"

namespace unjank::record {

namespace {

LockState& state_of(PyObject* self) { return lock_state<LockState>(self); }

PyObject* make(PyTypeObject* type) {
  PyObject* self = allocate<LockState>(type);
  if (self != nullptr && Recorder::instance().recording()) {
    state_of(self).name = creation_name(ThreadPlaces::current(), "Lock");
  }
  return self;
}

// Before 3.13 the original is only made by allocate_lock().
#if PY_VERSION_HEX >= 0x030D0000
PyObject* construct(PyTypeObject* type, PyObject* args, PyObject* keywords) {
  if (PyTuple_GET_SIZE(args) != 0 || (keywords != nullptr && PyDict_GET_SIZE(keywords) != 0)) {
    PyErr_SetString(PyExc_TypeError, "lock() takes no arguments");
    return nullptr;
  }
  return make(type);
}
#endif

PyObject* acquire_as(PyObject* self, const AcquireArguments& arguments) {
  LockState& lock = state_of(self);
  ThreadPlaces& places = ThreadPlaces::current();
  const Holder me{places.number(), places.acquire_site()};
  if (lock.word.try_acquire(me)) Py_RETURN_TRUE;
  if (!arguments.blocking || arguments.timeout_ns == 0) Py_RETURN_FALSE;
  switch (acquire_slowly(lock, LockKind::kLock, places, me, deadline_of(arguments))) {
    case AcquireOutcome::kAcquired: Py_RETURN_TRUE;
    case AcquireOutcome::kTimedOut: Py_RETURN_FALSE;
    case AcquireOutcome::kRaised: return nullptr;
  }
  Py_UNREACHABLE();
}

PyObject* release(PyObject* self, PyObject*) {
  LockState& lock = state_of(self);
  ThreadPlaces::current().last_released = lock.name;
  if (lock.word.release()) Py_RETURN_NONE;
  PyErr_SetString(PyExc_RuntimeError, "release unlocked lock");
  return nullptr;
}

PyObject* locked(PyObject* self, PyObject*) { return PyBool_FromLong(state_of(self).word.locked()); }

PyObject* reinit_after_fork(PyObject* self, PyObject*) {
  state_of(self).word.reset();
  Py_RETURN_NONE;
}

PyObject* repr(PyObject* self) {
  return PyUnicode_FromFormat("<%s %s object at %p>", state_of(self).word.locked() ? "locked" : "unlocked",
                              Py_TYPE(self)->tp_name, self);
}

constexpr const char* kAcquireDoc =
    "acquire(blocking=True, timeout=-1)\n--\n\nLock the lock. True if it was taken, False if the time ran out.";

PyMethodDef methods[] = {
    {"acquire", as_method(acquire<acquire_as>), METH_FASTCALL | METH_KEYWORDS, kAcquireDoc},
    {"acquire_lock", as_method(acquire<acquire_as>), METH_FASTCALL | METH_KEYWORDS, "An obsolete synonym of acquire()."},
    {"release", release, METH_NOARGS, "Release the lock; RuntimeError if it is not locked."},
    {"release_lock", release, METH_NOARGS, "An obsolete synonym of release()."},
    {"locked", locked, METH_NOARGS, "Whether the lock is taken."},
    {"locked_lock", locked, METH_NOARGS, "An obsolete synonym of locked()."},
    {"__enter__", as_method(acquire<acquire_as>), METH_FASTCALL | METH_KEYWORDS, "Lock the lock."},
    {"__exit__", as_method(leave<release>), METH_FASTCALL, "Release the lock."},
    {"_at_fork_reinit", reinit_after_fork, METH_NOARGS, "Unlocked again, in a forked child."},
    {nullptr, nullptr, 0, nullptr},
};

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"  // the C API keeps functions in void pointers
PyType_Slot slots[] = {
#if PY_VERSION_HEX >= 0x030D0000
    {Py_tp_new, reinterpret_cast<void*>(construct)},
#endif
    {Py_tp_dealloc, reinterpret_cast<void*>(destroy<LockState>)},
    {Py_tp_repr, reinterpret_cast<void*>(repr)},
    {Py_tp_methods, methods},
    {Py_tp_members, lock_members<LockState>},
    {Py_tp_doc, const_cast<char*>("A lock that records who waits for it. Otherwise as threading.Lock.")},
    {0, nullptr},
};
#pragma GCC diagnostic pop

#if PY_VERSION_HEX >= 0x030D0000
constexpr unsigned long kInstantiation = 0;
#else
constexpr unsigned long kInstantiation = Py_TPFLAGS_DISALLOW_INSTANTIATION;
#endif

// The name is the original's, so that repr() and error messages read the same.
PyType_Spec spec = {
    .name = "_thread.lock",
    .basicsize = sizeof(LockObject<LockState>),
    .itemsize = 0,
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE | kInstantiation,  // no BASETYPE: as the original
    .slots = slots,
};

PyObject* allocate_lock(PyObject* module, PyObject*) {
  PyObject* const type = PyObject_GetAttrString(module, "Lock");
  if (type == nullptr) return nullptr;
  PyObject* const lock = make(reinterpret_cast<PyTypeObject*>(type));
  Py_DECREF(type);
  return lock;
}

PyMethodDef allocate_lock_definition = {"allocate_lock", allocate_lock, METH_NOARGS,
                                        "allocate_lock() -> lock object\n\nMakes a lock that records who waits for it."};

}  // namespace

PyObject* make_lock_type() { return PyType_FromSpec(&spec); }

PyObject* make_allocate_lock(PyObject* module) {
  PyObject* const home = PyUnicode_FromString("_thread");
  PyObject* const function = home == nullptr ? nullptr : PyCFunction_NewEx(&allocate_lock_definition, module, home);
  Py_XDECREF(home);
  return function;
}

long waiters_of_lock(PyObject* lock, PyTypeObject* type) {
  return PyObject_TypeCheck(lock, type) ? static_cast<long>(state_of(lock).word.waiting()) : -1;
}

}  // namespace unjank::record
