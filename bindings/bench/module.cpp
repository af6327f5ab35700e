// unjank._bench: the native measurements, so that an installed package can make them. All of them run without the GIL.
#include <nanobind/nanobind.h>

#include <system_error>

#include "bindings.h"

namespace nb = nanobind;

namespace {

void system_error_to_oserror(const std::exception_ptr& raised, void*) {
  try {
    std::rethrow_exception(raised);
  } catch (const std::system_error& error) {
    nb::tuple arguments = nb::make_tuple(error.code().value(), error.what());
    PyErr_SetObject(PyExc_OSError, arguments.ptr());
  }
}

}  // namespace

NB_MODULE(_bench, module) {
  using namespace unjank::bench;
  module.doc() = "Native measurements of queues, wake-ups, heaps, context switches, caches, atomics and priorities.";
  nb::register_exception_translator(system_error_to_oserror);
  bind_queue(module);
  bind_heap(module);
  bind_side(module);
  bind_pingpong(module);
  bind_core_pair(module);
  bind_atomics(module);
  bind_busy_crew(module);
}
