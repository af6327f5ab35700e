#include "arguments.h"

#include <cmath>

#include "base/clock.h"

namespace unjank::looper {

bool parse_seconds(PyObject* value, const char* name, std::int64_t& out) {
  const double seconds = PyFloat_AsDouble(value);
  if (seconds == -1.0 && PyErr_Occurred()) {
    if (PyErr_ExceptionMatches(PyExc_TypeError)) {
      PyErr_Format(PyExc_TypeError, "%s must be a number of seconds, not %.100s", name, Py_TYPE(value)->tp_name);
    }
    return false;
  }
  if (std::isnan(seconds)) {
    PyErr_Format(PyExc_ValueError, "%s is not a number (NaN); give seconds, or math.inf for never", name);
    return false;
  }
  constexpr double kLimit = static_cast<double>(kForever) / 1e9;
  out = seconds >= kLimit ? kForever : seconds <= -kLimit ? -kForever : std::llround(seconds * 1e9);
  return true;
}

double to_seconds(std::int64_t ns) { return ns >= kForever ? INFINITY : static_cast<double>(ns) / 1e9; }

bool parse_code(PyObject* value, const char* name, std::int64_t& out) {
  if (!PyIndex_Check(value)) {
    PyErr_Format(PyExc_TypeError, "%s must be an int, not %.100s; pass other objects as obj", name,
                 Py_TYPE(value)->tp_name);
    return false;
  }
  PyObject* index = PyNumber_Index(value);
  if (index == nullptr) return false;
  int overflow = 0;
  out = PyLong_AsLongLongAndOverflow(index, &overflow);
  Py_DECREF(index);
  if (out == -1 && overflow == 0 && PyErr_Occurred()) return false;
  if (overflow != 0 || out == INT64_MIN) {
    PyErr_Format(PyExc_OverflowError, "%s must fit 64 bits; pass larger numbers as obj", name);
    return false;
  }
  return true;
}

bool check_callable(PyObject* callback, const char* method) {
  if (Py_TYPE(callback)->tp_call != nullptr) return true;  // what PyCallable_Check() asks, without the call
  PyErr_Format(PyExc_TypeError, "%s() needs a callable, not %.100s; pass the function itself: %s(render), not %s(render())",
               method, Py_TYPE(callback)->tp_name, method, method);
  return false;
}

namespace {

int index_of(PyObject* name, const char* const* names, int total) {
  for (int i = 0; i < total; ++i) {
    if (PyUnicode_CompareWithASCIIString(name, names[i]) == 0) return i;
  }
  return -1;
}

bool unexpected(const char* method, PyObject* name) {
  PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'", method, name);
  return false;
}

}  // namespace

bool parse_named(const char* method, PyObject* const* args, Py_ssize_t count, PyObject* keywords,
                 const char* const* names, int total, int required, int positional, PyObject** out) {
  if (count > positional) {
    PyErr_Format(PyExc_TypeError, "%s() takes at most %d positional arguments (%zd given)", method, positional, count);
    return false;
  }
  for (int i = 0; i < total; ++i) out[i] = i < count ? args[i] : nullptr;
  const Py_ssize_t keyword_count = keywords == nullptr ? 0 : PyTuple_GET_SIZE(keywords);
  for (Py_ssize_t i = 0; i < keyword_count; ++i) {
    PyObject* name = PyTuple_GET_ITEM(keywords, i);
    const int at = index_of(name, names, total);
    if (at < 0) return unexpected(method, name);
    if (out[at] != nullptr) {
      PyErr_Format(PyExc_TypeError, "%s() got multiple values for argument '%s'", method, names[at]);
      return false;
    }
    out[at] = args[count + i];
  }
  for (int i = 0; i < required; ++i) {
    if (out[i] != nullptr) continue;
    PyErr_Format(PyExc_TypeError, "%s() is missing its argument '%s'", method, names[i]);
    return false;
  }
  return true;
}

bool parse_token(const char* method, PyObject* const* keyword_values, PyObject* keywords, PyObject*& out) {
  out = nullptr;
  if (keywords == nullptr) return true;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(keywords); ++i) {
    PyObject* name = PyTuple_GET_ITEM(keywords, i);
    if (PyUnicode_CompareWithASCIIString(name, "token") != 0) return unexpected(method, name);
    out = none_as_null(keyword_values[i]);
  }
  return true;
}

}  // namespace unjank::looper
