// References to objects that many threads post: bought in bulk, so that posting does not write the object's count.
//
// On free-threaded builds each reference to an object of another thread is an atomic addition on one cache line.
// A handler that four threads post to would pass that line round four cores for each message. Here each thread
// buys kBulk references with one addition and keeps them; a post takes one out of the thread's own stock, the looper
// puts the message's reference into its own, and gives the surplus back in bulk. All are true references: a
// message in the queue owns its own, and the collector may traverse it.
//
// What it costs: while a thread has stock, the object lives. Stocks are emptied before each garbage collection
// (gc.callbacks), when a looper goes to sleep (its own), and when a thread ends.
// Builds with a GIL have nothing to gain: there these are Py_NewRef and Py_DECREF.
#pragma once

#include <Python.h>

namespace unjank::looper::references {

#ifdef Py_GIL_DISABLED

// A reference for a message; `pooled` tells drop() where it came from.
PyObject* take(PyObject* object, bool& pooled);
void drop(PyObject* object, bool pooled);

// Gives back the stock of the calling thread, or of all threads.
void empty_own_stock();
void empty_all_stocks();

#else

inline PyObject* take(PyObject* object, bool& pooled) {
  pooled = false;
  Py_INCREF(object);
  return object;
}
inline void drop(PyObject* object, bool) { Py_DECREF(object); }
inline void empty_own_stock() {}
inline void empty_all_stocks() {}

#endif

}  // namespace unjank::looper::references
