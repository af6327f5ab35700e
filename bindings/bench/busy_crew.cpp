// Busy threads at given priorities, and the pace of a CPU.
#include "bench/busy_crew.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <utility>

#include "bench/pace.h"
#include "bindings.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace unjank::bench {

namespace {

void make_crew(BusyCrew* crew, const std::vector<std::pair<int, int>>& threads) {
  require_some(threads.size(), "threads");
  std::vector<BusyThread> wanted;
  for (const auto& [nice, cpu] : threads) wanted.push_back({nice, cpu});
  new (crew) BusyCrew(wanted);
}

}  // namespace

void bind_busy_crew(nb::module_& module) {
  nb::class_<BusyReport>(module, "BusyReport").def_ro("nice", &BusyReport::nice).def_ro("side", &BusyReport::side);
  nb::class_<BusyCrew>(module, "BusyCrew")
      .def("__init__", &make_crew, "threads"_a, Unlocked())
      .def("start", &BusyCrew::start, Unlocked())
      .def("stop", &BusyCrew::stop, Unlocked())
      .def_prop_ro("wall_ns", &BusyCrew::wall_ns);
  module.def("step_ns", &step_ns, "cpu"_a, Unlocked());
}

}  // namespace unjank::bench
