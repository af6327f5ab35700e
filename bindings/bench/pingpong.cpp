// Ping-pong, with the kernel's counters of both sides.
#include "bench/pingpong.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <optional>

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

std::optional<std::int64_t> known(std::int64_t count) {
  return count == kUnknown ? std::nullopt : std::optional(count);
}

std::vector<int> cpus_of(const Side& side) {
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CpusSeen::kLimit; ++cpu) {
    if (side.cpus.has(cpu)) cpus.push_back(cpu);
  }
  return cpus;
}

void bind_side(nb::module_& module) {
  nb::class_<Side>(module, "Side")
      .def_prop_ro("voluntary", [](const Side& side) { return side.counters.voluntary; })
      .def_prop_ro("involuntary", [](const Side& side) { return side.counters.involuntary; })
      .def_prop_ro("migrations", [](const Side& side) { return known(side.counters.migrations); })
      .def_prop_ro("cpu_changes", [](const Side& side) { return side.cpus.changes(); })
      .def_prop_ro("cpu_ns", [](const Side& side) { return side.counters.cpu_ns; })
      .def_prop_ro("run_wait_ns", [](const Side& side) { return known(side.counters.run_wait_ns); })
      .def_prop_ro("cpus", &cpus_of);
}

}  // namespace

void bind_pingpong(nb::module_& module) {
  bind_side(module);
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
