#include "run_loop.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "dispatch.h"
#include "reference_cache.h"

namespace unjank::looper {

namespace {

// After so many messages in a row others get the interpreter, signals are handled and descriptors looked at.
constexpr int kBreatheEvery = 256;

using Events = std::array<poll::Event, 16>;

bool call_method(LooperObject* looper, const char* name) {
  PyObject* const result = PyObject_CallMethod(reinterpret_cast<PyObject*>(looper), name, nullptr);
  Py_XDECREF(result);
  return result != nullptr;
}

bool handle_signals(LooperObject* looper) {
  std::array<char, 64> numbers;
  while (read(looper->signal_fd, numbers.data(), numbers.size()) > 0) continue;
  return PyErr_CheckSignals() == 0;
}

bool handle_event(LooperObject* looper, const poll::Event& event) {
  if (event.id == kSignalId) return handle_signals(looper);
  PyObject* const result =
      PyObject_CallMethod(reinterpret_cast<PyObject*>(looper), "_on_ready", "KI", event.id, event.readiness);
  Py_XDECREF(result);
  return result != nullptr;
}

bool raise_poll_error(int error) {
  PyErr_Format(types().error,
               "the looper cannot sleep: %s; something closed descriptors that it did not open (os.closerange?)",
               std::strerror(error));
  return false;
}

bool handle_wait(LooperObject* looper, const poll::Poller::Waited& waited, const Events& events) {
  if (waited.error == EINTR) return PyErr_CheckSignals() == 0;
  if (waited.error != 0) return raise_poll_error(waited.error);
  for (std::size_t i = 0; i < waited.count; ++i) {
    if (!handle_event(looper, events[i])) return false;
  }
  return true;
}

bool look_at_descriptors(LooperObject* looper) {
  Events events;
  return handle_wait(looper, looper->state->poller.wait(0, events), events);
}

bool breathe(LooperObject* looper) {
  PyThreadState* const thread = PyEval_SaveThread();
  PyEval_RestoreThread(thread);
  return PyErr_CheckSignals() == 0 && look_at_descriptors(looper);
}

bool sleep_for(LooperObject* looper, std::int64_t timeout_ns) {
  // One that came while a builtin ran: no Python frame has handled it, and it interrupts nothing any more.
  if (PyErr_CheckSignals() != 0) return false;
  references::empty_own_stock();
  LoopState& state = *looper->state;
  if (!state.queue->prepare_sleep()) return true;
  Events events;
  PyThreadState* const thread = PyEval_SaveThread();
  const poll::Poller::Waited waited = state.poller.wait(timeout_ns, events);
  state.queue->finish_sleep();
  PyEval_RestoreThread(thread);
  return handle_wait(looper, waited, events);
}

bool check_usable(const LoopState& state) {
  if (!state.inherited()) return true;
  PyErr_SetString(types().error,
                  "this looper belongs to the parent process; after a fork make a new one with Looper.prepare()");
  return false;
}

bool idle(LooperObject* looper, std::int64_t deadline, bool& idle_handlers_ran) {
  if (!idle_handlers_ran && looper->has_idle_handlers.load(std::memory_order_relaxed)) {
    idle_handlers_ran = true;
    return call_method(looper, "_on_idle");  // it may have posted: the caller looks again
  }
  return sleep_for(looper, poll::timeout_until(deadline, looper->state->now_ns()));
}

void discard(LoopState& state) {
  for (Next next = state.queue->next(); next.kind != Next::Kind::kQuit; next = state.queue->next()) {
    next.message.drop();
  }
}

}  // namespace

bool run_loop(LooperObject* looper) {
  LoopState& state = *looper->state;
  bool idle_handlers_ran = false;
  for (int in_a_row = 0; check_usable(state);) {
    const Next next = state.queue->next();
    switch (next.kind) {
      case Next::Kind::kMessage:
        idle_handlers_ran = false;
        if (!dispatch(looper, next)) return false;
        if (++in_a_row % kBreatheEvery == 0 && !breathe(looper)) return false;
        break;
      case Next::Kind::kWait:
        in_a_row = 0;
        if (!idle(looper, next.deadline_ns, idle_handlers_ran)) return false;
        break;
      case Next::Kind::kQuit:
        references::empty_own_stock();
        state.close();
        return true;
    }
  }
  return false;
}

Step step(LooperObject* looper, std::int64_t limit_ns) {
  LoopState& state = *looper->state;
  if (!check_usable(state)) return Step::kRaised;
  const Next next = state.queue->next();
  switch (next.kind) {
    case Next::Kind::kMessage: return dispatch(looper, next) ? Step::kDispatched : Step::kRaised;
    case Next::Kind::kQuit: state.close(); return Step::kQuit;
    case Next::Kind::kWait: break;
  }
  const std::int64_t until = std::min(next.deadline_ns, deadline_after(state.now_ns(), limit_ns));
  const std::int64_t timeout = limit_ns <= 0 ? 0 : poll::timeout_until(until, state.now_ns());
  return sleep_for(looper, timeout) ? Step::kNothingDue : Step::kRaised;
}

void shut_down(LooperObject* looper) {
  if (!looper->state || looper->running || looper->state->inherited() || looper->state->closed()) return;
  LoopState& state = *looper->state;
  state.queue->quit(QuitMode::kDrop);
  discard(state);
  state.close();
}

}  // namespace unjank::looper
