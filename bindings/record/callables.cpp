#include "callables.h"

#include <string>

namespace unjank::record {

namespace {

constexpr int kMostWrappers = 8;  // partials of partials

/// What a method or a functools.partial calls in the end. Borrowed.
PyObject* innermost(PyObject* callable) {
  for (int i = 0; i < kMostWrappers; ++i) {
    if (PyMethod_Check(callable)) {
      callable = PyMethod_GET_FUNCTION(callable);
    } else if (std::string_view(Py_TYPE(callable)->tp_name) == "functools.partial") {
      PyObject* const function = PyObject_GetAttrString(callable, "func");
      if (function == nullptr) return PyErr_Clear(), callable;
      callable = function;
      Py_DECREF(function);  // the partial, which never changes, keeps it
    } else {
      return callable;
    }
  }
  return callable;
}

std::string class_name(PyObject* object) {
  const std::string name = Py_TYPE(object)->tp_name;
  return name.substr(name.rfind('.') + 1);
}

/// print, list.append
std::string builtin_name(PyObject* builtin) {
  const char* const name = reinterpret_cast<PyCFunctionObject*>(builtin)->m_ml->ml_name;
  PyObject* const self = PyCFunction_GET_SELF(builtin);
  return self == nullptr || PyModule_Check(self) ? name : class_name(self) + '.' + name;
}

std::uint32_t function_site(ThreadPlaces& places, PyObject* called) {
  if (PyFunction_Check(called)) {
    return places.place_of({nullptr, reinterpret_cast<PyCodeObject*>(PyFunction_GET_CODE(called)), kWholeFunction}).site;
  }
  if (!PyCFunction_Check(called)) return class_site(places, called);
  const PyMethodDef* const method = reinterpret_cast<PyCFunctionObject*>(called)->m_ml;
  return places.named(method, called, [&] { return builtin_name(called); });
}

/// What an object says that it stands for, as those of HandlerExecutor and functools.lru_cache do: a new reference, or
/// null. Not asked where a class looks its attributes up itself: a recorder runs no code of the program.
PyObject* wrapped_by(PyObject* callable) {
  if (PyFunction_Check(callable) || PyCFunction_Check(callable) ||
      Py_TYPE(callable)->tp_getattro != PyObject_GenericGetAttr) {
    return nullptr;
  }
  PyObject* const wrapped = PyObject_GetAttrString(callable, "__wrapped__");
  if (wrapped == nullptr) PyErr_Clear();
  return wrapped;
}

}  // namespace

std::uint32_t callable_site(ThreadPlaces& places, PyObject* callable) {
  PyObject* const called = innermost(callable);
  PyObject* const wrapped = wrapped_by(called);
  const std::uint32_t site = function_site(places, wrapped == nullptr ? called : innermost(wrapped));
  Py_XDECREF(wrapped);
  return site;
}

std::uint32_t class_site(ThreadPlaces& places, PyObject* object) {
  PyObject* const type = reinterpret_cast<PyObject*>(Py_TYPE(object));
  return places.named(type, type, [&] { return class_name(object); });
}

std::uint32_t handling_site(ThreadPlaces& places, PyObject* handler) {
  PyTypeObject* const type = Py_TYPE(handler);
  // Any address inside of the type stands for its method.
  return places.named(&type->tp_name, reinterpret_cast<PyObject*>(type),
                      [&] { return class_name(handler) + ".handle_message"; });
}

}  // namespace unjank::record
