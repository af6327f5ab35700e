// Posted: one post that can be cancelled, or one sync barrier.
#include <Python.h>
#include <structmember.h>

#include <cstring>

#include "arguments.h"
#include "reference_cache.h"
#include "types.h"

namespace unjank::looper {

namespace {

PostedObject* posted(PyObject* self) { return as_posted(self); }

RemoveResult take_back(PostedObject* self) {
  LoopState* const state = self->looper->state.get();
  if (state->inherited()) return {};
  return self->barrier ? state->queue->remove_barrier(self->handle) : state->announced(state->queue->cancel(self->handle));
}

PyObject* cancel(PyObject* self, PyObject*) {
  const RemoveResult result = take_back(posted(self));
  return check_wake(result.wake_errno) ? PyBool_FromLong(result.count != 0) : nullptr;
}

int is_accepted(PyObject* self) { return static_cast<bool>(posted(self)->handle); }

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(reinterpret_cast<PyObject*>(posted(self)->looper));
  return 0;
}

int clear(PyObject* self) {
  // The looper stays: cancel() needs it, and a Posted alone makes no cycle.
  static_cast<void>(self);
  return 0;
}

void destroy(PyObject* self) {
  PyObject_GC_UnTrack(self);
  PyTypeObject* const type = Py_TYPE(self);
  references::drop(reinterpret_cast<PyObject*>(posted(self)->looper), posted(self)->pooled);
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* when(PyObject* self, void*) { return PyFloat_FromDouble(to_seconds(posted(self)->when_ns)); }

PyObject* refuse(PyObject* self, PyObject*) { return refuse_pickling(self, "cancel() it where it was made"); }

PyMethodDef methods[] = {
    {"cancel", cancel, METH_NOARGS, "Removes it; False if it ran, was removed before or was never accepted. O(1)."},
    {"__reduce__", refuse, METH_NOARGS, "It cannot be pickled."},
    {nullptr, nullptr, 0, nullptr},
};

PyGetSetDef properties[] = {
    {"when", when, nullptr, "When it is due, in seconds of the looper's clock.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"  // the C API keeps functions in void pointers
PyType_Slot slots[] = {
    {Py_tp_dealloc, as_slot(destroy)},
    {Py_tp_traverse, as_slot(traverse)},
    {Py_tp_clear, as_slot(clear)},
    {Py_nb_bool, as_slot(is_accepted)},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {Py_tp_doc, const_cast<char*>("A post or sync barrier that can be taken back. False if the looper had quit.")},
    {0, nullptr},
};
#pragma GCC diagnostic pop

PyType_Spec spec = {
    .name = "unjank.looper.Posted",
    .basicsize = sizeof(PostedObject),
    .itemsize = 0,
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots,
};

}  // namespace

PyTypeObject* make_posted_type() { return reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec)); }

PyObject* make_posted(LooperObject* looper, const PostResult& result, std::int64_t when_ns, bool barrier) {
  PostedObject* const self = PyObject_GC_New(PostedObject, types().posted);
  if (self == nullptr) return nullptr;
  references::take(reinterpret_cast<PyObject*>(looper), self->pooled);
  self->looper = looper;
  self->handle = result.handle;
  self->when_ns = when_ns;
  self->barrier = barrier;
  PyObject_GC_Track(self);
  return reinterpret_cast<PyObject*>(self);
}

bool check_wake(int wake_errno) {
  if (wake_errno == 0) return true;
  PyErr_Format(types().error,
               "the message was posted, but the sleeping looper could not be woken: %s; something closed descriptors "
               "that it did not open (os.closerange?)",
               std::strerror(wake_errno));
  return false;
}

}  // namespace unjank::looper
