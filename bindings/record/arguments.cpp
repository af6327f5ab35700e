#include "arguments.h"

#include <cmath>
#include <limits>

#include "record/boot_clock.h"
#include "record/lock_word.h"

namespace unjank::record {

namespace {

constexpr double kNsPerSecond = 1e9;
constexpr double kNsLimit = 9223372036854775808.0;  // 2^63
// threading.TIMEOUT_MAX: what a signed 64-bit count of nanoseconds holds, in whole seconds.
constexpr std::int64_t kMaxSeconds = std::numeric_limits<std::int64_t>::max() / 1'000'000'000;

// What CPython's own locks say; some texts changed on the way.
#if PY_VERSION_HEX >= 0x030E0000
constexpr const char* kTooLargeInteger = "timestamp out of range for C PyTime_t";
constexpr const char* kTooLargeFloat = kTooLargeInteger;
constexpr const char* kNotANumber = "'%s' object cannot be interpreted as an integer or float";
#else
constexpr const char* kTooLargeFloat = "timestamp out of range for platform time_t";
constexpr const char* kNotANumber = "'%s' object cannot be interpreted as an integer";
#endif
#if PY_VERSION_HEX >= 0x030D0000
#if PY_VERSION_HEX < 0x030E0000
constexpr const char* kTooLargeInteger = "timestamp too large to convert to C PyTime_t";
#endif
constexpr const char* kNegative = "timeout value must be a non-negative number";
constexpr const char* kUnknownKeyword = "acquire() got an unexpected keyword argument '%U'";
#else
constexpr const char* kNegative = "timeout value must be positive";
constexpr const char* kTooLargeInteger = "timestamp too large to convert to C _PyTime_t";
constexpr const char* kUnknownKeyword = "'%U' is an invalid keyword argument for acquire()";
#endif

bool overflow(const char* text) {
  PyErr_SetString(PyExc_OverflowError, text);
  return false;
}

bool negative() {
  PyErr_SetString(PyExc_ValueError, kNegative);
  return false;
}

/// Rounds up, so that a wait is never shorter than asked for.
bool float_timeout(double seconds, std::int64_t& ns) {
  if (std::isnan(seconds)) {
    PyErr_SetString(PyExc_ValueError, "Invalid value NaN (not a number)");
    return false;
  }
  if (seconds == -1) return ns = -1, true;
  if (seconds < 0) return negative();
  if (seconds * kNsPerSecond >= kNsLimit) return overflow(kTooLargeFloat);
  if (seconds > static_cast<double>(kMaxSeconds)) return overflow("timeout value is too large");
  ns = static_cast<std::int64_t>(std::ceil(seconds * kNsPerSecond));
  return true;
}

bool integer_timeout(PyObject* value, std::int64_t& ns) {
  if (!PyIndex_Check(value)) {
    PyErr_Format(PyExc_TypeError, kNotANumber, Py_TYPE(value)->tp_name);
    return false;
  }
  const long long seconds = PyLong_AsLongLong(value);
  if (seconds == -1 && PyErr_Occurred()) {
    if (!PyErr_ExceptionMatches(PyExc_OverflowError)) return false;
    PyErr_Clear();
    return overflow(kTooLargeInteger);
  }
  if (seconds == -1) return ns = -1, true;
  if (seconds < 0) return negative();
  if (seconds > kMaxSeconds) return overflow(kTooLargeInteger);
  ns = seconds * 1'000'000'000;
  return true;
}

bool set_blocking(PyObject* value, AcquireArguments& parsed) {
#if PY_VERSION_HEX < 0x030C0000
  const long number = PyLong_AsLong(value);  // a C int then, any object's truth since
  parsed.blocking = number != 0;
  return number != -1 || !PyErr_Occurred();
#else
  const int truth = PyObject_IsTrue(value);
  parsed.blocking = truth > 0;
  return truth >= 0;
#endif
}

bool set_timeout(PyObject* value, AcquireArguments& parsed) {
  return PyFloat_Check(value) ? float_timeout(PyFloat_AS_DOUBLE(value), parsed.timeout_ns)
                              : integer_timeout(value, parsed.timeout_ns);
}

bool set_keyword(PyObject* name, PyObject* value, Py_ssize_t positional, AcquireArguments& parsed) {
  const bool blocking = PyUnicode_CompareWithASCIIString(name, "blocking") == 0;
  const bool timeout = PyUnicode_CompareWithASCIIString(name, "timeout") == 0;
  if ((blocking && positional > 0) || (timeout && positional > 1)) {
    PyErr_Format(PyExc_TypeError, "argument for acquire() given by name ('%U') and position (%d)", name,
                 blocking ? 1 : 2);
    return false;
  }
  if (blocking) return set_blocking(value, parsed);
  if (timeout) return set_timeout(value, parsed);
  PyErr_Format(PyExc_TypeError, kUnknownKeyword, name);
  return false;
}

}  // namespace

bool parse_acquire(PyObject* const* args, Py_ssize_t count, PyObject* keyword_names, AcquireArguments& parsed) {
  if (count > 2) {
    PyErr_Format(PyExc_TypeError, "acquire() takes at most 2 arguments (%zd given)", count);
    return false;
  }
  if (count > 0 && !set_blocking(args[0], parsed)) return false;
  if (count > 1 && !set_timeout(args[1], parsed)) return false;
  const Py_ssize_t keywords = keyword_names == nullptr ? 0 : PyTuple_GET_SIZE(keyword_names);
  for (Py_ssize_t i = 0; i < keywords; ++i) {
    if (!set_keyword(PyTuple_GET_ITEM(keyword_names, i), args[count + i], count, parsed)) return false;
  }
  if (!parsed.blocking && parsed.timeout_ns != -1) {
    PyErr_SetString(PyExc_ValueError, "can't specify a timeout for a non-blocking call");
    return false;
  }
  return true;
}

std::int64_t deadline_of(const AcquireArguments& arguments) {
  if (arguments.timeout_ns < 0) return kForever;
  const std::int64_t now = monotonic_ns();
  const std::int64_t left = std::numeric_limits<std::int64_t>::max() - now;
  return arguments.timeout_ns > left ? std::numeric_limits<std::int64_t>::max() : now + arguments.timeout_ns;
}

}  // namespace unjank::record
