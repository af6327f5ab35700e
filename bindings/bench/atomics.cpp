// Counting at once: locks and atomics.
#include "bench/atomics.h"

#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <string_view>

#include "bindings.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace unjank::bench {

namespace {

Atomics count_with(std::string_view operation, std::string_view layout, std::string_view instructions,
                   std::vector<int> cpus, double seconds) {
  return count_at_once(
      {named("operation", operation, {Operation::kLock, Operation::kCasLoop, Operation::kFetchAdd}),
       named("layout", layout, {Layout::kShared, Layout::kPacked, Layout::kPadded}),
       named("instructions", instructions, {Instructions::kNative, Instructions::kLlSc, Instructions::kLse}),
       std::move(cpus),
       static_cast<std::int64_t>(seconds * 1e9)});
}

std::vector<std::string_view> instruction_names() {
  std::vector<std::string_view> names;
  for (const Instructions instructions : available_instructions()) names.push_back(name_of(instructions));
  return names;
}

}  // namespace

void bind_atomics(nb::module_& module) {
  nb::class_<Tally>(module, "Tally")
      .def_ro("wall_ns", &Tally::wall_ns)
      .def_ro("operations", &Tally::operations)
      .def_ro("retries", &Tally::retries)
      .def_ro("side", &Tally::side);
  nb::class_<Atomics>(module, "Atomics")
      .def_ro("counted", &Atomics::counted)
      .def_prop_ro("threads", [](const Atomics& measured) { return measured.threads; });
  module.def("count_at_once", &count_with, "operation"_a, nb::kw_only(), "layout"_a, "instructions"_a, "cpus"_a,
             "seconds"_a, Unlocked());
  module.def("available_instructions", &instruction_names);
}

}  // namespace unjank::bench
