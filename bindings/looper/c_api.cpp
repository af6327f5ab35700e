#include "c_api.h"

#include <unjank/looper.h>

#include "payload.h"

// What the header leaves opaque.
struct unjank_looper {
  std::shared_ptr<unjank::looper::LoopState> state;
};

namespace unjank::looper {

namespace {

unjank_looper_function function(const void* pointer) {
  return reinterpret_cast<unjank_looper_function>(const_cast<void*>(pointer));
}

// A native message belongs to no handler, so nothing but remove() below finds it: its target is the state.
Message native_message(LoopState* state, unjank_looper_function run, unjank_looper_function drop, void* data) {
  return {.target = state, .what = kPostedCode, .obj = data, .callback = reinterpret_cast<const void*>(run),
          .receiver = reinterpret_cast<const void*>(drop), .release = drop_native};
}

unjank_looper* acquire(PyObject* object) {
  if (!PyObject_TypeCheck(object, types().looper)) {
    PyErr_Format(PyExc_TypeError, "acquire() needs a Looper, not %.100s", Py_TYPE(object)->tp_name);
    return nullptr;
  }
  if (state_of(as_looper(object)) == nullptr) return nullptr;
  return new unjank_looper{as_looper(object)->state};
}

void release(unjank_looper* looper) { delete looper; }

unjank_post_result post(unjank_looper* looper, unjank_looper_function run, unjank_looper_function drop, void* data,
                        std::int64_t delay_ns) {
  LoopState* const state = looper->state.get();
  Message message = native_message(state, run, drop, data);
  if (delay_ns > 0) message.when_ns = deadline_after(state->now_ns(), delay_ns);
  const PostResult result = delay_ns > 0 ? state->post(message, message.callback, false)
                                         : state->post_now(message, message.callback, false);
  switch (result.status) {
    case PostStatus::kQuit: return UNJANK_POST_QUIT;
    case PostStatus::kNoMemory: return UNJANK_POST_NO_MEMORY;
    case PostStatus::kAccepted: break;
  }
  return result.wake_errno == 0 ? UNJANK_POST_ACCEPTED : UNJANK_POST_NOT_WOKEN;
}

std::size_t remove(unjank_looper* looper, unjank_looper_function run, void* data) {
  LoopState* const state = looper->state.get();
  if (state->inherited()) return 0;
  const Criteria criteria{.target = state, .fields = Criteria::kCallback | Criteria::kObj, .obj = data,
                          .callback = reinterpret_cast<const void*>(run)};
  return state->announced(state->queue->remove(criteria)).count;
}

std::int64_t now_ns(unjank_looper* looper) { return looper->state->now_ns(); }

constexpr unjank_looper_api kApi{UNJANK_LOOPER_API_VERSION, acquire, release, post, remove, now_ns};

}  // namespace

bool call_native(const Message& message) {
  function(message.callback)(const_cast<void*>(message.obj));
  return PyErr_Occurred() == nullptr;
}

void drop_native(const Message& message) noexcept {
  if (message.receiver) function(message.receiver)(const_cast<void*>(message.obj));
}

PyObject* make_c_api() {
  return PyCapsule_New(const_cast<unjank_looper_api*>(&kApi), UNJANK_LOOPER_CAPSULE, nullptr);
}

}  // namespace unjank::looper
