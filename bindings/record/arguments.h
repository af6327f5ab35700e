// The arguments of acquire(blocking=True, timeout=-1), with the errors of CPython's own locks.
#pragma once

#include <Python.h>

#include <cstdint>

namespace unjank::record {

struct AcquireArguments {
  bool blocking = true;
  std::int64_t timeout_ns = -1;  // -1: no limit
};

/// False with a Python exception set.
bool parse_acquire(PyObject* const* args, Py_ssize_t count, PyObject* keyword_names, AcquireArguments& parsed);

/// The moment on CLOCK_MONOTONIC when the wait ends, or kForever.
std::int64_t deadline_of(const AcquireArguments& arguments);

}  // namespace unjank::record
