// The heap's comparators.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string_view.h>

#include <cstdint>
#include <utility>

#include "bench/heap_bench.h"
#include "bench/heap_kernels.h"
#include "bindings.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace unjank::bench {

namespace {

Comparator comparator_named(std::string_view name) {
  if (name == "branchless") return Comparator::kBranchless;
  if (name == "branchy") return Comparator::kBranchy;
  refuse("comparator", name, "branchless, branchy");
}

std::pair<double, double> heap_time(std::string_view comparator, std::size_t size, bool few_due_times,
                               std::size_t operations) {
  require_some(size, "size");
  require_some(operations, "operations");
  const HeapTimes times = heap_times({comparator_named(comparator), size, few_due_times, operations});
  return {times.hold_ns, times.drain_ns};
}

double comparisons(std::size_t size, std::size_t holds) {
  require_some(size, "size");
  require_some(holds, "holds");
  return comparisons_per_hold(size, holds);
}

std::size_t lesser(std::string_view comparator, std::pair<std::int64_t, std::int32_t> first,
                   std::pair<std::int64_t, std::int32_t> second) {
  const deliqueue::HeapEntry entries[] = {{first.first, first.second, 0}, {second.first, second.second, 0}};
  return comparator_named(comparator) == Comparator::kBranchless ? unjank_lesser_branchless(entries, 0, 1)
                                                                 : unjank_lesser_branchy(entries, 0, 1);
}

}  // namespace

void bind_heap(nb::module_& module) {
  module.def("heap_ns", &heap_time, "comparator"_a, nb::kw_only(), "size"_a, "few_due_times"_a, "operations"_a,
             Unlocked());
  module.def("comparisons_per_hold", &comparisons, nb::kw_only(), "size"_a, "holds"_a, Unlocked());
  module.def("lesser", &lesser, "comparator"_a, "first"_a, "second"_a);
}

}  // namespace unjank::bench
