// Queues and wake-ups.
#include "bench/queue_bench.h"

#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace unjank::bench {

namespace {

QueueKind queue_named(std::string_view name) {
  return named("queue", name, {QueueKind::kDeliqueue, QueueKind::kLegacy});
}

DuePattern pattern_named(std::string_view name) {
  return named("pattern", name, {DuePattern::kRandom, DuePattern::kIncreasing, DuePattern::kEqual});
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

double plain_dispatch_time(std::size_t backlog, std::size_t messages) {
  require_some(backlog, "backlog");
  require_some(messages, "messages");
  return plain_dispatch_ns(backlog, messages);
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

}  // namespace

void bind_queue(nb::module_& module) {
  module.def("insert_ns", &insert_time, "queue"_a, nb::kw_only(), "producers"_a, "backlog"_a, "per_producer"_a,
             "pattern"_a, Unlocked());
  module.def("dispatch_ns", &dispatch_time, "queue"_a, nb::kw_only(), "backlog"_a, "messages"_a, Unlocked());
  module.def("plain_dispatch_ns", &plain_dispatch_time, nb::kw_only(), "backlog"_a, "messages"_a, Unlocked());
  module.def("remove_ns", &remove_time, "queue"_a, nb::kw_only(), "backlog"_a, "removals"_a, "by_handle"_a, Unlocked());
  module.def("looper_round_trips", &looper_trips, "queue"_a, nb::kw_only(), "rounds"_a, "first_cpu"_a = -1,
             "second_cpu"_a = -1, Unlocked());
  module.def("eventfd_round_trips", &eventfd_trips, nb::kw_only(), "rounds"_a, "first_cpu"_a = -1,
             "second_cpu"_a = -1, Unlocked());
}

}  // namespace unjank::bench
