// unjank._bench: the native measurements, so that an installed package can make them. All of them run without the GIL.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "bench/heap_bench.h"
#include "bench/heap_kernels.h"
#include "bench/queue_bench.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using namespace unjank::bench;

[[noreturn]] void refuse(std::string_view what, std::string_view got, std::string_view choice) {
  throw std::invalid_argument(std::string(what) + " is one of " + std::string(choice) + ", not '" +
                              std::string(got) + "'");
}

QueueKind queue_named(std::string_view name) {
  for (const QueueKind queue : {QueueKind::kDeliqueue, QueueKind::kLegacy}) {
    if (name == name_of(queue)) return queue;
  }
  refuse("queue", name, "deliqueue, legacy");
}

DuePattern pattern_named(std::string_view name) {
  for (const DuePattern pattern : {DuePattern::kRandom, DuePattern::kIncreasing, DuePattern::kEqual}) {
    if (name == name_of(pattern)) return pattern;
  }
  refuse("pattern", name, "random, increasing, equal");
}

Comparator comparator_named(std::string_view name) {
  if (name == "branchless") return Comparator::kBranchless;
  if (name == "branchy") return Comparator::kBranchy;
  refuse("comparator", name, "branchless, branchy");
}

// Nothing measured is not zero nanoseconds.
void require_some(std::size_t count, const char* what) {
  if (count == 0) throw std::invalid_argument(std::string(what) + " must be at least 1");
}

double insert_time(std::string_view queue, unsigned producers, std::size_t backlog, std::size_t per_producer,
              std::string_view pattern) {
  require_some(producers, "producers");
  require_some(per_producer, "per_producer");
  return insert_ns({queue_named(queue), producers, backlog, per_producer, pattern_named(pattern)});
}

double dispatch_time(std::string_view queue, std::size_t backlog, std::size_t messages) {
  require_some(backlog, "backlog");
  require_some(messages, "messages");
  return dispatch_ns({queue_named(queue), backlog, messages});
}

double remove_time(std::string_view queue, std::size_t backlog, std::size_t removals, bool by_handle) {
  require_some(removals, "removals");
  return remove_ns({queue_named(queue), backlog, removals, by_handle});
}

std::vector<std::int64_t> looper_trips(std::string_view queue, std::size_t rounds, int first, int second) {
  require_some(rounds, "rounds");
  return looper_round_trips(queue_named(queue), rounds, {first, second});
}

std::vector<std::int64_t> eventfd_trips(std::size_t rounds, int first, int second) {
  require_some(rounds, "rounds");
  return eventfd_round_trips(rounds, {first, second});
}

std::pair<double, double> heap_time(std::string_view comparator, std::size_t size, bool few_due_times,
                               std::size_t operations) {
  require_some(size, "size");
  require_some(operations, "operations");
  const HeapTimes times = heap_times({comparator_named(comparator), size, few_due_times, operations});
  return {times.hold_ns, times.drain_ns};
}

std::size_t lesser(std::string_view comparator, std::pair<std::int64_t, std::int64_t> first,
                   std::pair<std::int64_t, std::int64_t> second) {
  const KernelEntry entries[] = {{{first.first, first.second}, nullptr}, {{second.first, second.second}, nullptr}};
  return comparator_named(comparator) == Comparator::kBranchless ? unjank_lesser_branchless(entries, 0, 1)
                                                                 : unjank_lesser_branchy(entries, 0, 1);
}

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
  module.doc() = "Native measurements of queues, wake-ups and heaps.";
  nb::register_exception_translator(system_error_to_oserror);
  using Unlocked = nb::call_guard<nb::gil_scoped_release>;

  module.def("insert_ns", &insert_time, "queue"_a, nb::kw_only(), "producers"_a, "backlog"_a, "per_producer"_a,
             "pattern"_a, Unlocked());
  module.def("dispatch_ns", &dispatch_time, "queue"_a, nb::kw_only(), "backlog"_a, "messages"_a, Unlocked());
  module.def("remove_ns", &remove_time, "queue"_a, nb::kw_only(), "backlog"_a, "removals"_a, "by_handle"_a, Unlocked());
  module.def("looper_round_trips", &looper_trips, "queue"_a, nb::kw_only(), "rounds"_a, "first_cpu"_a = -1,
             "second_cpu"_a = -1, Unlocked());
  module.def("eventfd_round_trips", &eventfd_trips, nb::kw_only(), "rounds"_a, "first_cpu"_a = -1,
             "second_cpu"_a = -1, Unlocked());
  module.def("heap_ns", &heap_time, "comparator"_a, nb::kw_only(), "size"_a, "few_due_times"_a, "operations"_a,
             Unlocked());
  module.def("lesser", &lesser, "comparator"_a, "first"_a, "second"_a);
}
