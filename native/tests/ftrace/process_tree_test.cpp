#include "ftrace/process_tree.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "ftrace/trace_fields.h"
#include "proto_reader.h"

using namespace unjank::ftrace;
using namespace unjank::ftrace::testing;
using unjank::PacketSink;
using unjank::ProtoWriter;
namespace fs = std::filesystem;

namespace {

class MemorySink final : public PacketSink {
 public:
  bool append(std::span<const std::byte> packets) override {
    bytes.insert(bytes.end(), packets.begin(), packets.end());
    return !full;
  }
  std::vector<ProtoField> processes() const { return in_trees(proto::process_tree::kProcesses); }
  std::vector<ProtoField> threads() const { return in_trees(proto::process_tree::kThreads); }

  std::vector<std::byte> bytes;
  bool full = false;

 private:
  std::vector<ProtoField> in_trees(std::uint32_t number) const {
    std::vector<ProtoField> out;
    for (const ProtoField& packet : all(bytes, proto::trace::kPacket))
      for (const ProtoField& field : all(first(packet.bytes, proto::packet::kProcessTree).bytes, number))
        out.push_back(field);
    return out;
  }
};

// A /proc of our own, removed at the end of the test.
class FakeProc {
 public:
  FakeProc() {
    char name[] = "/tmp/unjank-proc-XXXXXX";
    REQUIRE(::mkdtemp(name));
    root_ = name;
    fs::create_directory(root_ / "self");
  }
  ~FakeProc() { fs::remove_all(root_); }

  void add(int pid, const std::string& comm, const std::string& cmdline, int start = 100) {
    const fs::path folder = root_ / std::to_string(pid);
    fs::create_directories(folder);
    write(folder / "stat", stat(pid, comm, start));
    write(folder / "cmdline", cmdline);
    add_thread(pid, pid, comm, start);
  }
  void add_thread(int pid, int tid, const std::string& comm, int start = 100) {
    const fs::path folder = root_ / std::to_string(pid) / "task" / std::to_string(tid);
    fs::create_directories(folder);
    write(folder / "stat", stat(tid, comm, start));
  }
  std::string path() const { return root_.native(); }

 private:
  static std::string stat(int id, const std::string& comm, int start) {
    return std::to_string(id) + " (" + comm + ") S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 " +
           std::to_string(start) + " 0 0\n";
  }
  static void write(const fs::path& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }
  fs::path root_;
};

}  // namespace

TEST_CASE("the name in a stat line may hold blanks and brackets") {
  const auto stat = parse_proc_stat("7 (a b) (c) S 42 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 1234 0\n");
  REQUIRE(stat);
  CHECK(stat->comm == "a b) (c");
  CHECK(stat->parent == 42);
  CHECK(stat->start_ticks == 1234);
}

TEST_CASE("a stat line that is cut off gives nothing") {
  for (const char* line : {"", "7", "7 (a", "7 ) a (", "7 (a) S 42 2 3"}) CHECK_FALSE(parse_proc_stat(line));
}

TEST_CASE("processes come with parent and command line, threads with name and process") {
  FakeProc proc;
  proc.add(10, "camera", std::string("camera\0--fast\0", 14));
  proc.add_thread(10, 11, "worker 1");
  MemorySink sink;
  ProtoWriter out;
  std::uint64_t bytes = 0;
  CHECK(ProcessTreeWriter(proc.path(), 5).write(out, sink, bytes));

  CHECK(bytes == sink.bytes.size());
  REQUIRE(sink.processes().size() == 1);
  const Bytes process = sink.processes()[0].bytes;
  CHECK(first(process, proto::process_tree::kProcessPid).value == 10);
  CHECK(first(process, proto::process_tree::kProcessPpid).value == 1);
  const auto arguments = all(process, proto::process_tree::kProcessCmdline);
  REQUIRE(arguments.size() == 2);
  CHECK(arguments[0].text() == "camera");
  CHECK(arguments[1].text() == "--fast");
  REQUIRE(sink.threads().size() == 2);
  const Bytes thread = sink.threads()[1].bytes;
  CHECK(first(thread, proto::process_tree::kThreadTid).value == 11);
  CHECK(first(thread, proto::process_tree::kThreadTgid).value == 10);
  CHECK(first(thread, proto::process_tree::kThreadName).text() == "worker 1");
}

TEST_CASE("a kernel thread is named by its own name") {
  FakeProc proc;
  proc.add(2, "kthreadd", "");
  MemorySink sink;
  ProtoWriter out;
  std::uint64_t bytes = 0;
  CHECK(ProcessTreeWriter(proc.path(), 5).write(out, sink, bytes));
  const Bytes process = sink.processes()[0].bytes;
  CHECK(first(process, proto::process_tree::kProcessCmdline).text() == "kthreadd");
  CHECK(first(process, proto::process_tree::kProcessCmdlineIsComm).value == 1);
}

TEST_CASE("a second pass writes only what is new, an id used again included") {
  FakeProc proc;
  proc.add(10, "old", "old");
  proc.add(20, "first", "first", 100);
  MemorySink sink;
  ProtoWriter out;
  std::uint64_t bytes = 0;
  ProcessTreeWriter writer(proc.path(), 5);
  CHECK(writer.write(out, sink, bytes));
  sink.bytes.clear();
  proc.add(20, "second", "second", 200);
  proc.add_thread(10, 11, "worker");
  CHECK(writer.write(out, sink, bytes));
  REQUIRE(sink.processes().size() == 1);
  CHECK(first(sink.processes()[0].bytes, proto::process_tree::kProcessCmdline).text() == "second");
  CHECK(sink.threads().size() == 2);
}

TEST_CASE("a full sink is reported, a missing /proc gives an empty answer") {
  FakeProc proc;
  proc.add(10, "a", "a");
  MemorySink sink;
  sink.full = true;
  ProtoWriter out;
  std::uint64_t bytes = 0;
  CHECK_FALSE(ProcessTreeWriter(proc.path(), 5).write(out, sink, bytes));
  MemorySink empty;
  CHECK(ProcessTreeWriter("/nonexistent", 5).write(out, empty, bytes));
  CHECK(empty.bytes.empty());
}

TEST_CASE("many processes are spread over packets of bounded size") {
  FakeProc proc;
  for (int pid = 100; pid < 300; ++pid) proc.add(pid, "p", std::string(4000, 'x'));
  MemorySink sink;
  ProtoWriter out;
  std::uint64_t bytes = 0;
  CHECK(ProcessTreeWriter(proc.path(), 5).write(out, sink, bytes));
  CHECK(sink.processes().size() == 200);
  for (const ProtoField& packet : all(sink.bytes, proto::trace::kPacket)) CHECK(packet.bytes.size() < 300'000);
}
