// Task: base of callables that are told when they will never be called.
#include <Python.h>

#include "types.h"

namespace unjank::looper {

namespace {

void destroy(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* dropped(PyObject*, PyObject*) { Py_RETURN_NONE; }

PyMethodDef methods[] = {
    {"dropped", dropped, METH_NOARGS,
     "Called once, on whatever thread that is, when the posted task was removed or its looper quit before it ran."},
    {nullptr, nullptr, 0, nullptr},
};

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"  // the C API keeps functions in void pointers
PyType_Slot slots[] = {
    {Py_tp_new, as_slot(PyType_GenericNew)},
    {Py_tp_dealloc, as_slot(destroy)},
    {Py_tp_methods, methods},
    {Py_tp_doc, const_cast<char*>("Base of callables that must hear that they will never be called.")},
    {0, nullptr},
};
#pragma GCC diagnostic pop

PyType_Spec spec = {
    .name = "unjank.looper.Task",
    .basicsize = sizeof(TaskObject),
    .itemsize = 0,
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = slots,
};

}  // namespace

PyTypeObject* make_task_type() { return reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec)); }

}  // namespace unjank::looper
