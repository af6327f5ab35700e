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
// Builds with a GIL have nothing to gain: there these are Py_INCREF and Py_DECREF.
//
// The interpreter counts too, whenever a thread loads the handler from a variable. share() ends that as well.
#pragma once

#include <Python.h>

namespace unjank::looper::references {

#ifdef Py_GIL_DISABLED

// A reference for a message; `pooled` tells drop() where it came from.
void take(PyObject* object, bool& pooled);
void drop(PyObject* object, bool pooled);

// Gives back the stock of the calling thread, or of all threads. May run destructors.
void empty_own_stock();
void empty_all_stocks();

// From now on nobody counts references to the object: it is freed by the collector (3.14) or never (3.13, as
// functions and classes are there). False: on 3.13 only the thread that made it can do that.
bool share(PyObject* object);

#else

inline void take(PyObject* object, bool& pooled) {
  pooled = false;
  Py_INCREF(object);
}
inline void drop(PyObject* object, bool) { Py_DECREF(object); }
inline void empty_own_stock() {}
inline void empty_all_stocks() {}
inline bool share(PyObject*) { return true; }

#endif

}  // namespace unjank::looper::references
