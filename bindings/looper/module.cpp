// unjank._looper: the native core of loopers and handlers.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string_view.h>

#include "base/message_hooks.h"
#include "c_api.h"
#include "reference_cache.h"
#include "run_loop.h"
#include "types.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace unjank::looper {

Types& types() {
  static Types made;
  return made;
}

PyObject* refuse_pickling(PyObject* self, const char* way_out) {
  PyErr_Format(PyExc_TypeError, "cannot pickle '%.100s' object: %s", Py_TYPE(self)->tp_name, way_out);
  return nullptr;
}

namespace {

constexpr const char* kCurrentLooper = "unjank.looper.current";

template <class T>
T* own(T* made) {
  if (made == nullptr) throw nb::python_error();
  return made;
}

nb::object as_object(PyTypeObject* type) { return nb::borrow(reinterpret_cast<PyObject*>(type)); }

void make_types() {
  Types& made = types();
  nb::object error = nb::module_::import_("unjank._errors").attr("LooperError");
  made.error = error.release().ptr();
  made.handle_message = own(PyUnicode_InternFromString("handle_message"));
  made.looper = own(make_looper_type());
  made.handler = own(make_handler_type());
  made.message = own(make_message_type());
  made.posted = own(make_posted_type());
  made.task = own(make_task_type());
}

// The thread's own dictionary goes with the thread, and with it this capsule: whoever still posts then is refused.
void leave_thread(PyObject* capsule) {
  PyObject* const looper = static_cast<PyObject*>(PyCapsule_GetPointer(capsule, kCurrentLooper));
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  // At a fork and at the interpreter's end another thread tidies up: then the looper is left as it is.
  if (as_looper(looper)->thread == PyThread_get_thread_ident()) shut_down(as_looper(looper));
  PyErr_Restore(type, value, traceback);
  Py_DECREF(looper);
}

nb::object thread_dictionary() { return nb::borrow(own(PyThreadState_GetDict())); }

nb::object current_looper() {
  PyObject* const capsule = PyDict_GetItemString(thread_dictionary().ptr(), kCurrentLooper);
  if (capsule == nullptr) return nb::none();
  return nb::borrow(static_cast<PyObject*>(PyCapsule_GetPointer(capsule, kCurrentLooper)));
}

void set_current_looper(nb::object looper) {
  nb::object dictionary = thread_dictionary();
  if (looper.is_none()) {
    if (nb::cast<nb::dict>(dictionary).contains(kCurrentLooper)) nb::del(dictionary[kCurrentLooper]);
    return;
  }
  nb::object capsule = nb::steal(own(PyCapsule_New(looper.inc_ref().ptr(), kCurrentLooper, leave_thread)));
  dictionary[kCurrentLooper] = capsule;
}

const MessageHooks* install_hooks(const MessageHooks* hooks) { return installed_message_hooks.exchange(hooks); }
constexpr MessageHookSwitch kHookSwitch{kMessageHooksVersion, install_hooks};

// A recorder that was there first has left its table where every extension can look.
void install_waiting_hooks() {
  PyObject* const shared = PyInterpreterState_GetDict(PyInterpreterState_Get());
  PyObject* const capsule = shared == nullptr ? nullptr : PyDict_GetItemString(shared, kMessageHooksKey);
  if (capsule == nullptr || !PyCapsule_IsValid(capsule, kMessageHooksKey)) return;
  install_hooks(static_cast<const MessageHooks*>(PyCapsule_GetPointer(capsule, kMessageHooksKey)));
}

nb::object share(nb::object thing) {
  if (!references::share(thing.ptr())) {
    PyErr_SetString(types().error, "only the thread that made it can share an object on this Python; call share() there");
    throw nb::python_error();
  }
  return thing;
}

// Spare references look like owners to the collector.
void empty_stocks_before_collections() {
#ifdef Py_GIL_DISABLED
  nb::object callback = nb::cpp_function([](nb::str phase, nb::dict) {
    if (nb::cast<std::string_view>(phase) == "start") references::empty_all_stocks();
  });
  nb::module_::import_("gc").attr("callbacks").attr("append")(callback);
#endif
}

}  // namespace

NB_MODULE(_looper, m) {
  m.doc() = "The native core of loopers and handlers.";
  count_forks();
  make_types();
  m.attr("LooperCore") = as_object(types().looper);
  m.attr("HandlerCore") = as_object(types().handler);
  m.attr("Message") = as_object(types().message);
  m.attr("Posted") = as_object(types().posted);
  m.attr("Task") = as_object(types().task);
  m.attr("_HOOKS") =
      nb::steal(own(PyCapsule_New(const_cast<MessageHookSwitch*>(&kHookSwitch), kMessageHooksCapsule, nullptr)));
  install_waiting_hooks();
  m.attr("_C_API") = nb::steal(own(make_c_api()));

  m.def("current_looper", &current_looper, "The calling thread's looper, or None.");
  m.def("set_current_looper", &set_current_looper, "looper"_a.none(), "Makes it the thread's, or None: shuts it down.");
  empty_stocks_before_collections();
  m.def("share", &share, "thing"_a,
        "Ends the counting of references to it, where threads without a GIL would slow each other down by that.");
  m.def("return_spare_references", [] { references::empty_all_stocks(); },
        "Gives back what threads hold in advance on shared callbacks and handlers. Nothing to do with a GIL.");
}

}  // namespace unjank::looper
