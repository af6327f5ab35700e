// What makes two callables the same to remove_callbacks() and has_callbacks().
//
// A bound method is a new object each time it is looked up, so the queue compares its parts: function and object.
// Anything else is itself.
#pragma once

#include <Python.h>

namespace unjank::looper {

struct CallableIdentity {
  const void* function;
  const void* receiver;  // null: not a bound method
  bool builtin;          // `function` is a C method's definition, not an object
};

CallableIdentity identify(PyObject* callable);

}  // namespace unjank::looper
