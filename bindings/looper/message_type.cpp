// Message: what handle_message() is given, and what send_message() takes.
#include <Python.h>
#include <structmember.h>

#include "types.h"

namespace unjank::looper {

namespace {

int initialise(PyObject* self, PyObject* args, PyObject* keywords) {
  static const char* names[] = {"what", "arg1", "arg2", "obj", "data", "callback", "token", "asynchronous", nullptr};
  long long what = 0, arg1 = 0, arg2 = 0;
  PyObject *obj = nullptr, *data = nullptr, *callback = nullptr, *token = nullptr;
  int asynchronous = 0;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "|LLLO$OOOp:Message", const_cast<char**>(names), &what, &arg1, &arg2,
                                   &obj, &data, &callback, &token, &asynchronous)) {
    return -1;
  }
  MessageObject* const message = as_message(self);
  message->what = what;
  message->arg1 = arg1;
  message->arg2 = arg2;
  message->asynchronous = static_cast<char>(asynchronous);
  Py_XSETREF(message->obj, Py_XNewRef(obj));
  Py_XSETREF(message->data, Py_XNewRef(data));
  Py_XSETREF(message->callback, Py_XNewRef(callback));
  Py_XSETREF(message->token, Py_XNewRef(token));
  return 0;
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  const MessageObject* const message = as_message(self);
  Py_VISIT(message->obj);
  Py_VISIT(message->data);
  Py_VISIT(message->callback);
  Py_VISIT(message->token);
  Py_VISIT(message->target);
  return 0;
}

int clear(PyObject* self) {
  MessageObject* const message = as_message(self);
  Py_CLEAR(message->obj);
  Py_CLEAR(message->data);
  Py_CLEAR(message->callback);
  Py_CLEAR(message->token);
  Py_CLEAR(message->target);
  return 0;
}

void destroy(PyObject* self) {
  PyObject_GC_UnTrack(self);
  PyTypeObject* const type = Py_TYPE(self);
  clear(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* recycle(PyObject* self, PyObject*) {
  clear(self);
  MessageObject* const message = as_message(self);
  message->what = message->arg1 = message->arg2 = 0;
  message->when = 0;
  message->asynchronous = 0;
  Py_RETURN_NONE;
}

PyObject* obtain(PyObject* type, PyObject* args, PyObject* keywords) { return PyObject_Call(type, args, keywords); }

PyObject* repr(PyObject* self) {
  const MessageObject* const message = as_message(self);
  PyObject* const none = Py_None;
  return PyUnicode_FromFormat("<Message what=%lld arg1=%lld arg2=%lld obj=%R callback=%R>", message->what, message->arg1,
                              message->arg2, message->obj ? message->obj : none,
                              message->callback ? message->callback : none);
}

PyObject* refuse(PyObject* self, PyObject*) { return refuse_pickling(self, "send its what, obj and data instead"); }

PyMethodDef methods[] = {
    {"obtain", as_method(obtain), METH_VARARGS | METH_KEYWORDS | METH_CLASS,
     "Makes a message; the same as calling the class. Looper and Handler reuse messages by themselves."},
    {"recycle", recycle, METH_NOARGS, "Empties the message, so that what it refers to is not kept alive."},
    {"__reduce__", refuse, METH_NOARGS, "A message cannot be pickled."},
    {nullptr, nullptr, 0, nullptr},
};

PyMemberDef members[] = {
    {"what", T_LONGLONG, offsetof(MessageObject, what), 0, "The receiver's code for what this is about."},
    {"arg1", T_LONGLONG, offsetof(MessageObject, arg1), 0, "An integer that needs no object."},
    {"arg2", T_LONGLONG, offsetof(MessageObject, arg2), 0, "Another one."},
    {"obj", T_OBJECT, offsetof(MessageObject, obj), 0, "Any object; remove_messages() compares it by identity."},
    {"data", T_OBJECT, offsetof(MessageObject, data), 0, "More values, usually a dict; never compared."},
    {"callback", T_OBJECT, offsetof(MessageObject, callback), 0, "Called instead of handle_message(), if not None."},
    {"token", T_OBJECT, offsetof(MessageObject, token), 0, "What remove_all() goes by; if None, it goes by obj."},
    {"target", T_OBJECT, offsetof(MessageObject, target), READONLY, "The handler, while it handles the message."},
    {"when", T_DOUBLE, offsetof(MessageObject, when), READONLY, "When it was due, in seconds of the looper's clock."},
    {"asynchronous", T_BOOL, offsetof(MessageObject, asynchronous), 0, "Whether it passes sync barriers."},
    {nullptr, 0, 0, 0, nullptr},
};

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"  // the C API keeps functions in void pointers
PyType_Slot slots[] = {
    {Py_tp_init, as_slot(initialise)},
    {Py_tp_new, as_slot(PyType_GenericNew)},
    {Py_tp_dealloc, as_slot(destroy)},
    {Py_tp_traverse, as_slot(traverse)},
    {Py_tp_clear, as_slot(clear)},
    {Py_tp_repr, as_slot(repr)},
    {Py_tp_methods, methods},
    {Py_tp_members, members},
    {Py_tp_doc, const_cast<char*>("Message(what=0, arg1=0, arg2=0, obj=None, *, data=None, callback=None, token=None, "
                                  "asynchronous=False)\n--\n\nA message to a handler.")},
    {0, nullptr},
};
#pragma GCC diagnostic pop

PyType_Spec spec = {
    .name = "unjank.looper.Message",
    .basicsize = sizeof(MessageObject),
    .itemsize = 0,
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .slots = slots,
};

}  // namespace

PyTypeObject* make_message_type() { return reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec)); }

}  // namespace unjank::looper
