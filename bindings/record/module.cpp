// unjank._record: the recorded lock types, and the recorder's switches.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <unistd.h>

#include <cstring>
#include <system_error>
#include <tuple>

#include "blocking.h"
#include "lock_types.h"
#include "messages.h"
#include "naming.h"
#include "places.h"
#include "record/recorder.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace unjank::record {
namespace {

PyObject* new_object(PyObject* object) {
  if (object == nullptr) throw nb::python_error();
  return object;
}

void raise_os_error(const std::system_error& error, const std::string& path) {
  errno = error.code().value();
  PyErr_SetFromErrnoWithFilename(PyExc_OSError, path.c_str());
  throw nb::python_error();
}

PacketFile open_file(const std::string& path, int shared_fd) {
  try {
    return shared_fd < 0 ? PacketFile::create(path) : PacketFile::join(path, shared_fd);
  } catch (const std::system_error& error) {
    raise_os_error(error, path);
  }
  throw std::logic_error("unreachable");
}

void start(PacketFile& file, const std::string& process_name, const std::vector<std::string>& command_line,
           const Facts& facts, bool samples_owner) {
  ThreadPlaces::current();  // known from the start, even if it never takes a lock
  const int shared_fd = file.share();
  PacketFile own = open_file(file.path(), shared_fd);
  close(shared_fd);
  if (!Recorder::instance().start(std::move(own), {process_name, command_line, facts}, samples_owner)) {
    throw std::runtime_error("this process is being recorded already");
  }
}

std::tuple<std::uint64_t, int> stop(const std::string& how) {
  const nb::gil_scoped_release others_may_run;
  const RecordingEnd end = Recorder::instance().stop(how);
  return {end.bytes, end.error};
}

void flush() {
  const nb::gil_scoped_release others_may_run;
  Recorder::instance().flush();
}

bool begin_wait_here(const std::string& function, std::uint32_t object_name) {
  return begin_wait(ThreadPlaces::current(), function, object_name);
}

void end_wait_here(const std::string& result) {
  const WaitResult ended = result == "acquired"  ? WaitResult::kAcquired
                           : result == "timeout" ? WaitResult::kTimeout
                                                 : WaitResult::kInterrupted;
  end_wait(ThreadPlaces::current(), ended);
}

}  // namespace

NB_MODULE(_record, m) {
  m.doc() = "Recorded lock types and the recorder of this process.";

  nb::object lock_type = nb::steal(new_object(make_lock_type()));
  m.attr("Lock") = lock_type;
  nb::object rlock_type = nb::steal(new_object(make_rlock_type()));
  m.attr("RLock") = rlock_type;
  m.attr("allocate_lock") = nb::steal(new_object(make_allocate_lock(m.ptr())));

  m.def(
      "waiters",
      [lock_type = reinterpret_cast<PyTypeObject*>(lock_type.ptr()),
       rlock_type = reinterpret_cast<PyTypeObject*>(rlock_type.ptr())](nb::handle lock) {
        const long waiters = waiters_of_lock(lock.ptr(), lock_type);
        const long others = waiters >= 0 ? waiters : waiters_of_rlock(lock.ptr(), rlock_type);
        if (others < 0) throw nb::type_error("not a recorded lock: only those made while recording count waiters");
        return others;
      },
      "lock"_a, "How many threads wait for a recorded lock at this moment.");

  nb::class_<PacketFile>(m, "TraceFile", "A trace file that several processes append whole packets to.")
      .def("__init__",
           [](PacketFile* self, const std::string& path, int shared_fd) {
             new (self) PacketFile(open_file(path, shared_fd));
           },
           "path"_a, "shared_fd"_a = -1,
           "Creates or empties the file; with the descriptor from another process's share(), joins it.")
      .def("share", &PacketFile::share, "A descriptor for another process to join with; the caller closes it.")
      .def("append",
           [](PacketFile& self, const nb::bytes& packets) {
             return self.append(std::as_bytes(std::span(packets.c_str(), packets.size())));
           },
           "packets"_a, "Appends whole packets, all or nothing.")
      .def_prop_ro("path", &PacketFile::path)
      .def_prop_ro("error", &PacketFile::error, "errno of the first failed write; 0 if none.")
      .def_prop_ro("committed", &PacketFile::committed, "Bytes of whole packets, by all writers.");

  m.def("start", &start, "file"_a, "process_name"_a, "command_line"_a, "facts"_a, "samples_owner"_a,
        "Starts recording into the file. RuntimeError if this process is being recorded already.");
  m.def("flush", &flush, "Returns once all that was recorded before is in the file.");
  m.def("stop", &stop, "how"_a, "Ends the recording: (bytes in the file, errno of the first failed write or 0).");
  m.def("recording", [] { return Recorder::instance().recording(); }, "Whether this process is being recorded.");

  m.def("listen_to_loopers", [] { if (!listen_to_loopers()) throw nb::python_error(); },
        "Has loopers tell of their messages, also if unjank._looper is imported later.");
  m.def("leave_loopers", &leave_loopers, "Has them tell no more.");

  m.def("name_thread", [](const std::string& name) {
          Recorder::instance().threads().rename(ThreadPlaces::current().log(), name);
        }, "name"_a, "Names the calling thread in the trace.");
  m.def("rename_thread", [](int native_id, const std::string& name) {
          Recorder::instance().threads().rename(static_cast<pid_t>(native_id), name);
        }, "native_id"_a, "name"_a, "Names the thread with this kernel id, if it is known.");

  m.def("set_wrapper_file", [](const std::string& path) { set_file_role(path, FileRole::kWrapper); }, "path"_a,
        "Functions of this file are never the place of a wait, as those of threading.py.");
  m.def("set_library_file", [](const std::string& path) { set_file_role(path, FileRole::kLibrary); }, "path"_a,
        "Functions of this file wait on behalf of the program, as those of queue.py.");

  m.def("set_own_file", [](const std::string& path) { set_file_role(path, FileRole::kOwn); }, "path"_a,
        "Functions of this file are not shown at all.");

  m.def("creation_name", [](const char* what) { return creation_name(ThreadPlaces::current(), what); }, "what"_a,
        "The name, as a number, of the object that the calling code makes and assigns.");
  m.def("begin_wait", &begin_wait_here, "function"_a, "object_name"_a,
        "Begins a wait slice. True if end_wait is owed.");
  m.def("begin_join", [](int native_id) { return begin_join(ThreadPlaces::current(), native_id); }, "native_id"_a,
        "Begins the wait for the end of the thread with this kernel id. True if end_wait is owed.");
  m.def("end_wait", &end_wait_here, "result"_a, "Ends it: 'acquired', 'timeout' or 'interrupted'.");
}

}  // namespace unjank::record
