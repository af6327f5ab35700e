// One thread of a measurement, as the kernel counted it.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "bench/counters.h"
#include "bindings.h"

namespace nb = nanobind;

namespace unjank::bench {

namespace {

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

}  // namespace

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

}  // namespace unjank::bench
