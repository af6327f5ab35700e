#include "callable.h"

namespace unjank::looper {

CallableIdentity identify(PyObject* callable) {
  if (PyMethod_Check(callable)) return {PyMethod_GET_FUNCTION(callable), PyMethod_GET_SELF(callable), false};
  if (PyCFunction_Check(callable)) {
    const auto* function = reinterpret_cast<PyCFunctionObject*>(callable);
    if (function->m_self != nullptr && !PyModule_Check(function->m_self)) {
      return {function->m_ml, function->m_self, true};
    }
  }
  return {callable, nullptr, false};
}

}  // namespace unjank::looper
