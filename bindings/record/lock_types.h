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

/// New reference to threading.Lock as it is before 3.13: a builtin function, which makes locks of the module's type
/// `Lock`. It passes for _thread's own: that is where it is put, and where pickle looks for it.
PyObject* make_allocate_lock(PyObject* module);

}  // namespace unjank::record
