// Behind the public header unjank/looper.h: functions posted by C code.
#pragma once

#include <Python.h>

#include "loop_queue.h"

namespace unjank::looper {

// Calls the C function of a native message. False with an exception set if it left one.
bool call_native(const Message& message);

// The capsule with the function table.
PyObject* make_c_api();

}  // namespace unjank::looper
