// Parsing of the arguments that several methods share. Each returns false with an exception set.
#pragma once

#include <Python.h>

#include <cstdint>

namespace unjank::looper {

// Seconds as nanoseconds, rounded; beyond the clock's range it is the range's end. ValueError for NaN.
bool parse_seconds(PyObject* value, const char* name, std::int64_t& out);
double to_seconds(std::int64_t ns);

// A message code or argument, -2**63 < value < 2**63.
bool parse_code(PyObject* value, const char* name, std::int64_t& out);

// `callback` as a callable, with the usual mistake (calling instead of passing) named.
bool check_callable(PyObject* callback, const char* method);

// Positional and keyword arguments of a fast call, put in the order of `names`.
// out[i] is borrowed or null. The first `required` must be there.
bool parse_named(const char* method, PyObject* const* args, Py_ssize_t count, PyObject* keywords,
                 const char* const* names, int total, int required, int positional, PyObject** out);

// The keyword `token` as the only one a method takes beside its positional arguments; borrowed, null for None.
bool parse_token(const char* method, PyObject* const* keyword_values, PyObject* keywords, PyObject*& out);

inline PyObject* none_as_null(PyObject* object) { return object == Py_None ? nullptr : object; }

}  // namespace unjank::looper
