// Core to core, one pair at a time.
#include "bench/core_pair.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "bindings.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace unjank::bench {

namespace {

CorePair core_pair_of(int first_cpu, int second_cpu, int home_cpu, std::size_t round_trips, std::size_t samples,
                      double patience) {
  require_some(round_trips, "round_trips");
  require_some(samples, "samples");
  return core_pair({first_cpu, second_cpu, home_cpu, round_trips, samples, static_cast<std::int64_t>(patience * 1e9)});
}

std::optional<std::int64_t> node_of(const CorePair& measured) {
  return measured.node == kUnknown ? std::nullopt : std::optional(measured.node);
}

}  // namespace

void bind_core_pair(nb::module_& module) {
  nb::class_<CorePair>(module, "CorePair")
      .def_ro("one_way_ns", &CorePair::one_way_ns)
      .def_ro("exchanges", &CorePair::exchanges)
      .def_ro("exchanges_wanted", &CorePair::exchanges_wanted)
      .def_prop_ro("node", &node_of)
      .def_ro("first", &CorePair::first)
      .def_ro("second", &CorePair::second);
  module.def("core_pair", &core_pair_of, "first_cpu"_a, "second_cpu"_a, nb::kw_only(), "home_cpu"_a, "round_trips"_a,
             "samples"_a, "patience"_a, Unlocked());
}

}  // namespace unjank::bench
