#include "reference_cache.h"

#ifdef Py_GIL_DISABLED
namespace unjank::looper::references {
PyObject* take(PyObject* object, bool& pooled) {
  pooled = false;
  return Py_NewRef(object);
}
void drop(PyObject* object, bool) { Py_DECREF(object); }
void empty_own_stock() {}
void empty_all_stocks() {}
}  // namespace unjank::looper::references
#endif
