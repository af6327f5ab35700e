// Recorded twin of _thread.RLock.
#include <Python.h>

#include "blocking.h"
#include "lock_object.h"
#include "lock_types.h"
#include "method_table.h"
#include "naming.h"

namespace unjank::record {

namespace {

struct RLockState {
  LockState lock;
  unsigned long count = 0;  // the owner's alone
  // `owner_ident` — Encodes: threading.get_ident() of the owner, for repr() and _release_save(). Written by:
  // the owner. Relaxed: others only show it.
  std::atomic<unsigned long> owner_ident{0};
};

RLockState& state_of(PyObject* self) { return lock_state<RLockState>(self); }

bool owned_by(const RLockState& state, const ThreadPlaces& places) {
  // Only this thread can make this true or false, so a plain look is enough.
  const std::uint64_t word = state.lock.word.peek();
  return (word & LockWord<>::kLocked) && LockWord<>::unpack(word).thread == places.number();
}

void become_owner(RLockState& state, unsigned long count) {
  state.count = count;
  state.owner_ident.store(PyThread_get_thread_ident(), std::memory_order_relaxed);
}

PyObject* construct(PyTypeObject* type, PyObject*, PyObject*) {
  PyObject* self = allocate<RLockState>(type);
  if (self != nullptr && Recorder::instance().recording()) {
    state_of(self).lock.name = creation_name(ThreadPlaces::current(), "RLock");
  }
  return self;
}

PyObject* acquire_again(RLockState& state) {
  if (state.count + 1 == 0) {
    PyErr_SetString(PyExc_OverflowError, "Internal lock count overflowed");
    return nullptr;
  }
  ++state.count;
  Py_RETURN_TRUE;
}

PyObject* acquire_as(PyObject* self, const AcquireArguments& arguments) {
  RLockState& state = state_of(self);
  ThreadPlaces& places = ThreadPlaces::current();
  if (owned_by(state, places)) return acquire_again(state);
  const Holder me{places.number(), places.acquire_site()};
  if (!state.lock.word.try_acquire(me)) {
    if (!arguments.blocking || arguments.timeout_ns == 0) Py_RETURN_FALSE;
    switch (acquire_slowly(state.lock, LockKind::kRLock, places, me, deadline_of(arguments))) {
      case AcquireOutcome::kAcquired: break;
      case AcquireOutcome::kTimedOut: Py_RETURN_FALSE;
      case AcquireOutcome::kRaised: return nullptr;
    }
  }
  become_owner(state, 1);
  Py_RETURN_TRUE;
}

PyObject* not_acquired() {
  PyErr_SetString(PyExc_RuntimeError, "cannot release un-acquired lock");
  return nullptr;
}

void give_up(RLockState& state, ThreadPlaces& places) {
  state.count = 0;
  state.owner_ident.store(0, std::memory_order_relaxed);
  places.last_released = state.lock.name;
  state.lock.word.release();
}

PyObject* release(PyObject* self, PyObject*) {
  RLockState& state = state_of(self);
  ThreadPlaces& places = ThreadPlaces::current();
  if (!owned_by(state, places)) return not_acquired();
  if (--state.count == 0) give_up(state, places);
  Py_RETURN_NONE;
}

PyObject* is_owned(PyObject* self, PyObject*) {
  return PyBool_FromLong(owned_by(state_of(self), ThreadPlaces::current()));
}

#if PY_VERSION_HEX >= 0x030E0000
PyObject* locked(PyObject* self, PyObject*) { return PyBool_FromLong(state_of(self).lock.word.locked()); }
#endif

PyObject* recursion_count(PyObject* self, PyObject*) {
  RLockState& state = state_of(self);
  return PyLong_FromUnsignedLong(owned_by(state, ThreadPlaces::current()) ? state.count : 0);
}

/// For Condition.wait: all levels at once. (count, owner), as the original has it.
PyObject* release_save(PyObject* self, PyObject*) {
  RLockState& state = state_of(self);
  ThreadPlaces& places = ThreadPlaces::current();
  if (!owned_by(state, places)) return not_acquired();
  PyObject* saved = Py_BuildValue("kk", state.count, state.owner_ident.load(std::memory_order_relaxed));
  if (saved != nullptr) give_up(state, places);
  return saved;
}

PyObject* acquire_restore(PyObject* self, PyObject* saved) {
  unsigned long count = 0;
  unsigned long owner = 0;
  if (!PyArg_ParseTuple(saved, "kk;_acquire_restore() takes (count, owner)", &count, &owner)) return nullptr;
  RLockState& state = state_of(self);
  ThreadPlaces& places = ThreadPlaces::current();
  const Holder me{places.number(), places.acquire_site()};
  if (!state.lock.word.try_acquire(me)) acquire_for_sure(state.lock, LockKind::kRLock, places, me);
  become_owner(state, count);
  state.owner_ident.store(owner, std::memory_order_relaxed);
  Py_RETURN_NONE;
}

PyObject* reinit_after_fork(PyObject* self, PyObject*) {
  RLockState& state = state_of(self);
  state.count = 0;
  state.owner_ident.store(0, std::memory_order_relaxed);
  state.lock.word.reset();
  Py_RETURN_NONE;
}

PyObject* repr(PyObject* self) {
  const RLockState& state = state_of(self);
  const bool taken = state.lock.word.locked();
  return PyUnicode_FromFormat("<%s %s object owner=%lu count=%lu at %p>", taken ? "locked" : "unlocked",
                              Py_TYPE(self)->tp_name, state.owner_ident.load(std::memory_order_relaxed),
                              state.count, self);
}

constexpr const char* kAcquireDoc =
    "acquire(blocking=True, timeout=-1)\n--\n\nLock the lock, or count one level more if this thread has it.";

PyMethodDef methods[] = {
    {"acquire", as_method(acquire<acquire_as>), METH_FASTCALL | METH_KEYWORDS, kAcquireDoc},
    {"release", release, METH_NOARGS, "Release one level; RuntimeError if this thread does not have the lock."},
#if PY_VERSION_HEX >= 0x030E0000
    {"locked", locked, METH_NOARGS, "Whether any thread has the lock."},
#endif
    {"__enter__", as_method(acquire<acquire_as>), METH_FASTCALL | METH_KEYWORDS, "Lock the lock."},
    {"__exit__", as_method(leave<release>), METH_FASTCALL, "Release the lock."},
    {"_is_owned", is_owned, METH_NOARGS, "For internal use by `threading.Condition`."},
    {"_recursion_count", recursion_count, METH_NOARGS, "For internal use by reentrancy detection."},
    {"_acquire_restore", acquire_restore, METH_O, "For internal use by `threading.Condition`."},
    {"_release_save", release_save, METH_NOARGS, "For internal use by `threading.Condition`."},
    {"_at_fork_reinit", reinit_after_fork, METH_NOARGS, "Unlocked again, in a forked child."},
    {nullptr, nullptr, 0, nullptr},
};

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"  // the C API keeps functions in void pointers
PyType_Slot slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(construct)},
    {Py_tp_dealloc, reinterpret_cast<void*>(destroy<RLockState>)},
    {Py_tp_repr, reinterpret_cast<void*>(repr)},
    {Py_tp_methods, methods},
    {Py_tp_members, lock_members<RLockState>},
    {Py_tp_doc, const_cast<char*>("A reentrant lock that records who waits for it. Otherwise as threading.RLock.")},
    {0, nullptr},
};
#pragma GCC diagnostic pop

PyType_Spec spec = {
    .name = "_thread.RLock",
    .basicsize = sizeof(LockObject<RLockState>),
    .itemsize = 0,
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = slots,
};

}  // namespace

PyObject* make_rlock_type() { return PyType_FromSpec(&spec); }

long waiters_of_rlock(PyObject* lock, PyTypeObject* type) {
  return PyObject_TypeCheck(lock, type) ? static_cast<long>(state_of(lock).lock.word.waiting()) : -1;
}

}  // namespace unjank::record
