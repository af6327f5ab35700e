#include "messages.h"

#include <Python.h>

#include <algorithm>

#include "base/clock.h"
#include "base/message_hooks.h"
#include "callables.h"
#include "places.h"
#include "record/boot_clock.h"

namespace unjank::record {

namespace {

constexpr const char* kNativeCode = "C function";

std::uint64_t now() { return static_cast<std::uint64_t>(boot_ns()); }

PyObject* object(const void* pointer) { return static_cast<PyObject*>(const_cast<void*>(pointer)); }

void tell_queue(Event& event, const QueueView& queue) {
  event.looper = static_cast<std::uint32_t>(queue.looper);
  event.looper_tid = static_cast<std::uint32_t>(queue.tid);
  event.pending = queue.pending;
}

std::uint32_t target_of(ThreadPlaces& places, const MessageView& message) {
  if (message.handler == nullptr) {
    static const std::uint32_t native = named_function(kNativeCode);
    return native;
  }
  return message.callback != nullptr ? callable_site(places, object(message.callback))
                                     : handling_site(places, object(message.handler));
}

Event event_of(EventKind kind, std::int64_t ts_ns, ThreadPlaces& places, const MessageView& message) {
  Event event = event_at(kind, ts_ns);
  tell_queue(event, message.queue);
  event.flow = message.flow;
  event.target = target_of(places, message);
  if (message.handler != nullptr) event.handler = class_site(places, object(message.handler));
  if (message.handler != nullptr && message.callback == nullptr) event.what = static_cast<std::uint64_t>(message.what);
  return event;
}

/// From `begin` to `end`, nothing if it is the other way round.
std::uint64_t time_between(std::int64_t begin, std::int64_t end) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(end - begin, 0));
}

bool has_due_time(const MessageView& message) { return message.real_time && message.due_ns < kForever; }

void posted(const MessageView& message, std::uint64_t began) {
  if (!Recorder::instance().recording()) return;
  ThreadPlaces& places = ThreadPlaces::current();
  Event event = event_of(EventKind::kPost, static_cast<std::int64_t>(began), places, message);
  if (message.attached) event.site = places.acquire_site();
  if (has_due_time(message)) event.delay_ns = time_between(monotonic_ns(), message.due_ns);
  Recorder::instance().instant(places.log(), event);
}

void removed(const QueueView& queue) {
  if (!Recorder::instance().recording()) return;
  Event event = event_at(EventKind::kQueueLength, boot_ns());
  tell_queue(event, queue);
  Recorder::instance().instant(ThreadPlaces::current().log(), event);
}

void dispatching(const MessageView& message) {
  ThreadPlaces& places = ThreadPlaces::current();
  if (!Recorder::instance().recording()) return places.dispatches.push_back(false);
  Event event = event_of(EventKind::kDispatchBegin, boot_ns(), places, message);
  if (has_due_time(message)) event.delay_ns = time_between(message.due_ns, monotonic_ns());
  places.dispatches.push_back(Recorder::instance().begin(places.log(), event));
}

void dispatched(const MessageView&) {
  ThreadPlaces& places = ThreadPlaces::current();
  if (places.dispatches.empty()) return;
  const bool owed = places.dispatches.back();
  places.dispatches.pop_back();
  if (!owed) return;
  Recorder::instance().end(places.log(), event_at(EventKind::kDispatchEnd, boot_ns()));
}

constexpr MessageHooks kHooks{now, posted, removed, dispatching, dispatched};

/// The switch of the loopers' extension; null if that is not loaded.
const MessageHookSwitch* loaded_loopers() {
  PyObject* const module = PyDict_GetItemString(PyImport_GetModuleDict(), "unjank._looper");
  PyObject* const capsule = module == nullptr ? nullptr : PyObject_GetAttrString(module, "_HOOKS");
  if (capsule == nullptr) {
    PyErr_Clear();  // it is being imported right now, and will look for our table
    return nullptr;
  }
  const auto* const found =
      static_cast<const MessageHookSwitch*>(PyCapsule_GetPointer(capsule, kMessageHooksCapsule));
  Py_DECREF(capsule);  // of the module, which is never unloaded
  if (found == nullptr) PyErr_Clear();
  return found != nullptr && found->version == kMessageHooksVersion ? found : nullptr;
}

PyObject* shared_dictionary() { return PyInterpreterState_GetDict(PyInterpreterState_Get()); }

}  // namespace

bool listen_to_loopers() {
  PyObject* const shared = shared_dictionary();
  if (shared == nullptr) return PyErr_Format(PyExc_RuntimeError, "this interpreter has no room for extensions' data"), false;
  PyObject* const capsule = PyCapsule_New(const_cast<MessageHooks*>(&kHooks), kMessageHooksKey, nullptr);
  if (capsule == nullptr) return false;
  const bool told = PyDict_SetItemString(shared, kMessageHooksKey, capsule) == 0;
  Py_DECREF(capsule);
  if (!told) return false;
  if (const MessageHookSwitch* const loopers = loaded_loopers()) loopers->install(&kHooks);
  return true;
}

void leave_loopers() {
  PyObject* const shared = shared_dictionary();
  if (shared != nullptr && PyDict_DelItemString(shared, kMessageHooksKey) != 0) PyErr_Clear();
  const MessageHookSwitch* const loopers = loaded_loopers();
  if (loopers == nullptr) return;
  const MessageHooks* const other = loopers->install(nullptr);
  if (other != &kHooks) loopers->install(other);
}

}  // namespace unjank::record
