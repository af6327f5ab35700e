// A recorder as small as can be: keeps what the message hooks tell.
#include <Python.h>

#include <mutex>
#include <string>
#include <vector>

#include "base/message_hooks.h"

namespace {

struct Told {
  std::string event;
  unjank::MessageView message;
  std::uint64_t number;
  std::string name;
};

std::mutex mutex;
std::vector<Told> told;
std::uint64_t ticks = 0;

std::string name_of(const unjank::MessageView& message) {
  if (!message.attached || message.callback == nullptr || message.handler == nullptr) return "";
  PyObject* const callback = static_cast<PyObject*>(const_cast<void*>(message.callback));
  PyObject* const name = PyObject_GetAttrString(callback, "__name__");
  if (name == nullptr) {
    PyErr_Clear();
    return "?";
  }
  const std::string text = PyUnicode_AsUTF8(name);
  Py_DECREF(name);
  return text;
}

void keep(const char* event, const unjank::MessageView& message, std::uint64_t number) {
  std::string name = name_of(message);
  const std::lock_guard lock(mutex);
  told.push_back({event, message, number, std::move(name)});
}

std::uint64_t now() {
  const std::lock_guard lock(mutex);
  return ++ticks;
}
void posted(const unjank::MessageView& message, std::uint64_t began) { keep("posted", message, began); }
void removed(const unjank::QueueView& queue) { keep("removed", {.queue = queue}, queue.pending); }
void dispatching(const unjank::MessageView& message) { keep("dispatching", message, message.queue.pending); }
void dispatched(const unjank::MessageView& message) { keep("dispatched", message, 0); }

constexpr unjank::MessageHooks kHooks{now, posted, removed, dispatching, dispatched};

unjank::MessageHookSwitch* hook_switch() {
  return static_cast<unjank::MessageHookSwitch*>(PyCapsule_Import(unjank::kMessageHooksCapsule, 0));
}

PyObject* install(PyObject*, PyObject* on) {
  unjank::MessageHookSwitch* const toggle = hook_switch();
  if (toggle == nullptr) return nullptr;
  const unjank::MessageHooks* const before = toggle->install(PyObject_IsTrue(on) ? &kHooks : nullptr);
  return PyBool_FromLong(before == &kHooks);
}

// [(event, looper, flow, due_ns, what, name, number)]
PyObject* take(PyObject*, PyObject*) {
  std::vector<Told> taken;
  {
    const std::lock_guard lock(mutex);
    taken.swap(told);
  }
  PyObject* const list = PyList_New(0);
  for (const Told& t : taken) {
    PyObject* const row = Py_BuildValue("(sKKLLsK)", t.event.c_str(), t.message.queue.looper, t.message.flow, t.message.due_ns,
                                        t.message.what, t.name.c_str(), t.number);
    PyList_Append(list, row);
    Py_XDECREF(row);
  }
  return list;
}

PyMethodDef methods[] = {{"install", install, METH_O, nullptr}, {"take", take, METH_NOARGS, nullptr}, {}};

PyModuleDef_Slot slots[] = {
#ifdef Py_GIL_DISABLED
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, nullptr}};

PyModuleDef definition = {PyModuleDef_HEAD_INIT, "listener", nullptr, 0, methods, slots, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit_listener() { return PyModuleDef_Init(&definition); }
