// Ping-pong, with the kernel's counters of both sides.
#include "bench/pingpong.h"

#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace unjank::bench {

namespace {

PingPong ping_pong_of(std::string_view medium, std::string_view parties, std::size_t rounds, std::size_t warm_up,
                      int first_cpu, int second_cpu) {
  require_some(rounds, "rounds");
  return ping_pong({named("medium", medium, {Medium::kPipe, Medium::kEventFd, Medium::kFutex}),
                    named("parties", parties, {Parties::kThreads, Parties::kProcesses}),
                    {first_cpu, second_cpu},
                    rounds,
                    warm_up});
}

}  // namespace

void bind_pingpong(nb::module_& module) {
  nb::class_<PingPong>(module, "PingPong")
      .def_ro("wall_ns", &PingPong::wall_ns)
      .def_ro("rounds_apart", &PingPong::rounds_apart)
      .def_ro("caller", &PingPong::caller)
      .def_ro("echo", &PingPong::echo)
      .def_prop_ro("round_ns", [](const PingPong& measured) { return measured.round_ns; });
  module.def("ping_pong", &ping_pong_of, "medium"_a, "parties"_a, nb::kw_only(), "rounds"_a, "warm_up"_a = 200,
             "first_cpu"_a = -1, "second_cpu"_a = -1, Unlocked());
}

}  // namespace unjank::bench
