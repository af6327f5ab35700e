// Functions of other shapes than PyCFunction, for a method table whose flags tell the shape.
#pragma once

#include <Python.h>

namespace unjank::record {

template <class Function>
PyCFunction as_method(Function* function) {
  // By way of a neutral function type, which compilers take as the sign that the cast is meant.
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

}  // namespace unjank::record
