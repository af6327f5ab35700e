// The recorded lock types. They look and behave like _thread.lock and _thread.RLock.
#pragma once

#include <Python.h>

namespace unjank::record {

/// New references to the types; null with an exception set.
PyObject* make_lock_type();
PyObject* make_rlock_type();

/// How many threads wait for a recorded lock now; -1 if it is of another type.
long waiters_of_lock(PyObject* lock, PyTypeObject* type);
long waiters_of_rlock(PyObject* lock, PyTypeObject* type);

/// threading.Lock before 3.13: a function that makes a lock of `type`.
PyObject* allocate_lock(PyTypeObject* type);

}  // namespace unjank::record
