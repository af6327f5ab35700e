// unjank._ftrace: the kernel's scheduling events into a trace file, by a thread that never needs the GIL.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/packet_file.h"
#include "ftrace/reader.h"

namespace nb = nanobind;
using namespace nb::literals;
using unjank::PacketFile;
using unjank::ftrace::FtraceReader;
using unjank::ftrace::Report;

namespace {

std::unique_ptr<PacketFile> open_target(const std::string& path, std::optional<int> shared_fd) {
  return std::make_unique<PacketFile>(shared_fd ? PacketFile::join(path, *shared_fd) : PacketFile::create(path));
}

std::unique_ptr<FtraceReader> open_reader(const std::string& path, std::optional<int> shared_fd, std::string tracefs,
                                          std::string instance, std::string proc, std::uint32_t sequence_id,
                                          int interval_ms) {
  std::string error;
  auto reader = FtraceReader::open(
      {std::move(tracefs), std::move(instance), std::move(proc), sequence_id, interval_ms},
      open_target(path, shared_fd), error);
  if (!reader) throw std::runtime_error(error);
  return reader;
}

std::vector<std::string> event_names() {
  std::vector<std::string> names;
  for (const auto& event : unjank::ftrace::known_events())
    names.push_back(std::string(event.group) + '/' + std::string(event.name));
  return names;
}

}  // namespace

NB_MODULE(_ftrace, module) {
  module.doc() = "The kernel's scheduling events into a trace file.";

  nb::class_<Report>(module, "Report")
      .def_prop_ro("events", [](const Report& r) { return r.totals.events; })
      .def_prop_ro("lost_events", [](const Report& r) { return r.totals.lost_events; })
      .def_prop_ro("skipped_records", [](const Report& r) { return r.totals.skipped_records; })
      .def_prop_ro("inferred_switches", [](const Report& r) { return r.totals.inferred_switches; })
      .def_prop_ro("missing_switches", [](const Report& r) { return r.totals.missing_switches; })
      .def_prop_ro("malformed_pages", [](const Report& r) { return r.totals.malformed_pages; })
      .def_prop_ro("packets", [](const Report& r) { return r.totals.packets; })
      .def_prop_ro("bytes", [](const Report& r) { return r.totals.bytes; })
      .def_prop_ro("sink_failed", [](const Report& r) { return r.sink_failed; });

  nb::class_<FtraceReader>(module, "Reader", nb::is_weak_referenceable())
      .def(nb::new_(&open_reader), "path"_a, "shared_fd"_a.none(), nb::kw_only(), "tracefs"_a, "instance"_a,
           "proc"_a, "sequence_id"_a, "interval_ms"_a)
      .def("start", &FtraceReader::start, nb::call_guard<nb::gil_scoped_release>())
      .def("stop", &FtraceReader::stop, nb::call_guard<nb::gil_scoped_release>())
      .def("abandon_in_child", &FtraceReader::abandon_in_child);

  module.def("event_names", &event_names);
}
