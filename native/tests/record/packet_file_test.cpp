// The file stays a row of whole packets whatever happens to its writers, their descriptors and the disk.
#include "base/packet_file.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <thread>
#include <vector>

#include "base/proto_writer.h"
#include "tests/record/temporary.h"
#include "tests/record/trace_reader.h"

namespace unjank {

namespace {

using record::test::fields_of;
using record::test::file_content;
using record::test::in_child;
using record::test::status_of;
using record::test::TemporaryFolder;

/// A packet that tells who wrote it, with a body to be torn.
std::vector<std::byte> packet(std::uint64_t writer, std::size_t body = 100) {
  ProtoWriter out;
  {
    const auto packet = out.message(1);
    out.varint(1, writer);
    out.text(2, std::string(body, static_cast<char>('a' + writer % 26)));
  }
  return {out.view().begin(), out.view().end()};
}

/// How many packets each writer has in the file. Throws if one is torn or mixed up.
std::map<std::uint64_t, int> packets_by_writer(const std::string& path) {
  std::map<std::uint64_t, int> counts;
  const std::string content = file_content(path);
  for (const auto& packet : fields_of(content)) {
    const auto parts = fields_of(packet.text);
    const auto letter = static_cast<char>('a' + parts.at(0).value % 26);
    if (parts.at(1).text.find_first_not_of(letter) != std::string_view::npos) throw std::runtime_error("mixed up");
    ++counts[parts.at(0).value];
  }
  return counts;
}

/// The descriptor of this process that has this very file open; -1 if none has.
int descriptor_of(const struct stat& wanted) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int fd = std::stoi(entry.path().filename());
    struct stat info {};
    if (fstat(fd, &info) == 0 && info.st_dev == wanted.st_dev && info.st_ino == wanted.st_ino) return fd;
  }
  return -1;
}

int descriptor_of(const std::string& path) {
  struct stat wanted {};
  REQUIRE(stat(path.c_str(), &wanted) == 0);
  return descriptor_of(wanted);
}

/// A second writer on the same file.
PacketFile joined(const PacketFile& file) {
  const int shared = file.share();
  PacketFile other = PacketFile::join(file.path(), shared);
  close(shared);
  return other;
}

/// The largest file this process may write, for a scope; the signal that goes with it ignored.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    before_handler_ = signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    signal(SIGXFSZ, before_handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
  sighandler_t before_handler_;
};

}  // namespace

TEST_CASE("creating empties a file that is there") {
  const TemporaryFolder folder;
  std::ofstream(folder.file("t")) << "old";
  PacketFile file = PacketFile::create(folder.file("t"));
  CHECK(file_content(folder.file("t")).empty());
  CHECK(file.append(packet(1)));
  CHECK(file.committed() == file_content(folder.file("t")).size());
}

TEST_CASE("a path that cannot be written is an error with its errno") {
  const TemporaryFolder folder;
  try {
    PacketFile::create(folder.file("missing/t"));
    FAIL("created");
  } catch (const std::system_error& error) {
    CHECK(error.code().value() == ENOENT);
    CHECK(std::string(error.what()).find("missing/t") != std::string::npos);
  }
  CHECK_THROWS_AS(PacketFile::create("/"), std::system_error);
}

TEST_CASE("the descriptor lies high and is not inherited over exec") {
  const TemporaryFolder folder;
  const PacketFile file = PacketFile::create(folder.file("t"));
  const int fd = descriptor_of(folder.file("t"));
  CHECK(fd >= 900);
  CHECK((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
}

TEST_CASE("packets of several threads and processes stay whole") {
  const TemporaryFolder folder;
  PacketFile file = PacketFile::create(folder.file("t"));
  constexpr int kEach = 200;
  std::vector<pid_t> children;
  for (std::uint64_t writer = 1; writer <= 3; ++writer) {
    children.push_back(in_child([&] {
      file.reopen_after_fork();
      bool all = true;
      for (int i = 0; i < kEach; ++i) all &= file.append(packet(writer, 5'000));
      return all ? 0 : 1;
    }));
  }
  std::vector<std::thread> threads;
  for (std::uint64_t writer = 4; writer <= 6; ++writer) {
    threads.emplace_back([&, writer] {
      PacketFile own = joined(file);
      for (int i = 0; i < kEach; ++i) own.append(packet(writer, 5'000));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const pid_t child : children) CHECK(status_of(child) == 0);
  const auto counts = packets_by_writer(folder.file("t"));
  CHECK(counts.size() == 6);
  for (const auto& [writer, count] : counts) CHECK(count == kEach);
  CHECK(file.committed() == std::filesystem::file_size(folder.file("t")));
}

TEST_CASE("a writer that is killed leaves at most a torn tail, which the next one cuts off") {
  const TemporaryFolder folder;
  PacketFile file = PacketFile::create(folder.file("t"));
  REQUIRE(file.append(packet(1)));
  for (int round = 0; round < 20; ++round) {
    int started[2];
    REQUIRE(pipe(started) == 0);
    const pid_t child = in_child([&] {
      file.reopen_after_fork();
      for (;;) {
        file.append(packet(2, 200'000));
        if (write(started[1], "x", 1) != 1) return 1;
      }
    });
    char byte = 0;
    REQUIRE(read(started[0], &byte, 1) == 1);
    kill(child, SIGKILL);
    CHECK(WIFSIGNALED(status_of(child)));
    close(started[0]), close(started[1]);
    REQUIRE(file.append(packet(1)));
  }
  CHECK(packets_by_writer(folder.file("t"))[1] == 21);
}

TEST_CASE("a torn tail is cut off before the next packet") {
  const TemporaryFolder folder;
  PacketFile file = PacketFile::create(folder.file("t"));
  REQUIRE(file.append(packet(1)));
  // What a writer that died in the middle of a pwrite leaves: bytes beyond what was committed.
  std::ofstream(folder.file("t"), std::ios::app) << "\x0a\x7f torn";
  REQUIRE(file.append(packet(2)));
  CHECK(packets_by_writer(folder.file("t")) == std::map<std::uint64_t, int>{{1, 1}, {2, 1}});
}

TEST_CASE("a full disk keeps the file whole and is reported by its errno") {
  const TemporaryFolder folder;
  PacketFile file = PacketFile::create(folder.file("t"));
  REQUIRE(file.append(packet(1)));
  const std::uint64_t whole = file.committed();
  {
    const FileSizeLimit limit(whole + 50);  // the next packet is written in part, then refused
    CHECK_FALSE(file.append(packet(2)));
    CHECK(file.error() == EFBIG);
    CHECK_FALSE(file.append({packet(3).data(), 1}));
  }
  CHECK(file.committed() == whole);
  CHECK(std::filesystem::file_size(folder.file("t")) == whole);
  CHECK_FALSE(file.append(packet(3)));  // an error is final: the trace has a gap from here
  CHECK(packets_by_writer(folder.file("t")) == std::map<std::uint64_t, int>{{1, 1}});
}

TEST_CASE("one writer's full disk leaves the others' packets whole") {
  const TemporaryFolder folder;
  PacketFile file = PacketFile::create(folder.file("t"));
  PacketFile other = joined(file);
  {
    const FileSizeLimit limit(50);
    CHECK_FALSE(other.append(packet(2)));
  }
  CHECK(file.append(packet(1)));
  CHECK(packets_by_writer(folder.file("t")) == std::map<std::uint64_t, int>{{1, 1}});
}

TEST_CASE("a device that is always full reports ENOSPC") {
  PacketFile file = PacketFile::create("/dev/full");
  CHECK_FALSE(file.append(packet(1)));
  CHECK(file.error() == ENOSPC);
}

TEST_CASE("a descriptor that the program closed is opened anew") {
  const TemporaryFolder folder;
  PacketFile file = PacketFile::create(folder.file("t"));
  REQUIRE(file.append(packet(1)));
  REQUIRE(close(descriptor_of(folder.file("t"))) == 0);
  CHECK(file.append(packet(2)));
  CHECK(packets_by_writer(folder.file("t")) == std::map<std::uint64_t, int>{{1, 1}, {2, 1}});
}

TEST_CASE("a descriptor that the program took for a file of its own is left alone") {
  const TemporaryFolder folder;
  const std::string own = folder.file("own");
  PacketFile file = PacketFile::create(folder.file("t"));
  const int fd = descriptor_of(folder.file("t"));
  std::ofstream(own) << "the program's";
  const int opened = open(own.c_str(), O_RDWR);
  REQUIRE(dup2(opened, fd) == fd);
  close(opened);
  CHECK(file.append(packet(1)));
  CHECK(file_content(own) == "the program's");
  CHECK(packets_by_writer(folder.file("t")) == std::map<std::uint64_t, int>{{1, 1}});
  CHECK(fcntl(fd, F_GETFD) >= 0);
  close(fd);
}

TEST_CASE("a file that was replaced is not written to") {
  const TemporaryFolder folder;
  PacketFile file = PacketFile::create(folder.file("t"));
  REQUIRE(close(descriptor_of(folder.file("t"))) == 0);
  std::filesystem::remove(folder.file("t"));
  std::ofstream(folder.file("unrelated")) << "x";  // takes the inode that has become free, if any does
  std::ofstream(folder.file("t")) << "another's";
  CHECK_FALSE(file.append(packet(1)));
  CHECK(file.error() == ESTALE);
  CHECK(file_content(folder.file("t")) == "another's");
}

TEST_CASE("a forked child's writer has a lock of its own") {
  const TemporaryFolder folder;
  PacketFile file = PacketFile::create(folder.file("t"));
  int locked[2], checked[2];
  REQUIRE((pipe(locked) == 0 && pipe(checked) == 0));
  const pid_t child = in_child([&] {
    file.reopen_after_fork();
    char byte = 0;
    if (flock(descriptor_of(folder.file("t")), LOCK_EX) != 0) return 1;
    if (write(locked[1], "x", 1) != 1 || read(checked[0], &byte, 1) != 1) return 2;
    return file.append(packet(2)) ? 0 : 3;
  });
  char byte = 0;
  REQUIRE(read(locked[0], &byte, 1) == 1);
  CHECK(flock(descriptor_of(folder.file("t")), LOCK_EX | LOCK_NB) != 0);
  REQUIRE(write(checked[1], "x", 1) == 1);
  CHECK(status_of(child) == 0);
  for (const int fd : {locked[0], locked[1], checked[0], checked[1]}) close(fd);
}

TEST_CASE("a forked child does not take over the program's file under our number") {
  const TemporaryFolder folder;
  const std::string own = folder.file("own");
  PacketFile file = PacketFile::create(folder.file("t"));
  std::ofstream(own) << "the program's";
  const pid_t child = in_child([&] {
    const int fd = descriptor_of(folder.file("t"));
    if (dup2(open(own.c_str(), O_RDWR), fd) != fd) return 1;
    file.reopen_after_fork();
    if (!file.append(packet(2))) return 2;
    return fcntl(fd, F_GETFD) >= 0 ? 0 : 3;
  });
  CHECK(status_of(child) == 0);
  CHECK(file_content(own) == "the program's");
  CHECK(packets_by_writer(folder.file("t")) == std::map<std::uint64_t, int>{{2, 1}});
}

TEST_CASE("a descriptor that the program took is not closed either, nor shared") {
  const TemporaryFolder folder;
  int foreign = -1;
  {
    const PacketFile file = PacketFile::create(folder.file("t"));
    const int shared = file.share();
    struct stat memory {};
    REQUIRE(fstat(shared, &memory) == 0);
    close(shared);
    foreign = descriptor_of(memory);
    REQUIRE(dup2(0, foreign) == foreign);
    CHECK(file.share() == -1);
  }
  CHECK(fcntl(foreign, F_GETFD) >= 0);
  close(foreign);
}

TEST_CASE("a pipe takes packets as well") {
  const TemporaryFolder folder;
  REQUIRE(mkfifo(folder.file("t").c_str(), 0600) == 0);
  const int reader = open(folder.file("t").c_str(), O_RDWR);
  PacketFile file = PacketFile::create(folder.file("t"));
  CHECK(file.append(packet(1)));
  CHECK(file.append(packet(2)));
  std::string content(file.committed(), '\0');
  CHECK(read(reader, content.data(), content.size()) == static_cast<ssize_t>(content.size()));
  CHECK(fields_of(content).size() == 2);
  close(reader);
}

}  // namespace unjank
