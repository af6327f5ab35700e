// What the recorded lock types have in common as Python objects. `State` is what makes them locks.
#pragma once

#include <Python.h>
#include <structmember.h>

#include <cstddef>
#include <new>

#include "arguments.h"

namespace unjank::record {

template <class State>
struct LockObject {
  PyObject_HEAD
  PyObject* weak_references;
  State state;
};

template <class State>
State& lock_state(PyObject* self) {
  return reinterpret_cast<LockObject<State>*>(self)->state;
}

/// A new lock, free and unnamed.
template <class State>
PyObject* allocate(PyTypeObject* type) {
  PyObject* self = type->tp_alloc(type, 0);
  if (self != nullptr) new (&lock_state<State>(self)) State;
  return self;
}

template <class State>
void destroy(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  if (reinterpret_cast<LockObject<State>*>(self)->weak_references != nullptr) PyObject_ClearWeakRefs(self);
  lock_state<State>(self).~State();
  type->tp_free(self);
  Py_DECREF(type);
}

/// acquire() and __enter__(): without arguments, as `with` calls it, nothing is parsed.
template <PyObject* (*acquire_as)(PyObject*, const AcquireArguments&)>
PyObject* acquire(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keyword_names) {
  AcquireArguments arguments;
  if ((count > 0 || keyword_names != nullptr) && !parse_acquire(args, count, keyword_names, arguments)) {
    return nullptr;
  }
  return acquire_as(self, arguments);
}

/// __exit__(): what went wrong in the block does not matter.
template <PyObject* (*release)(PyObject*, PyObject*)>
PyObject* leave(PyObject* self, PyObject* const*, Py_ssize_t) {
  return release(self, nullptr);
}

/// The table that gives a type weak references.
template <class State>
inline PyMemberDef lock_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(LockObject<State>, weak_references), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

}  // namespace unjank::record
