// The whole recorder: threads, rings, writer, file; restarts and forks while recording.
#include "record/recorder.h"

#include <doctest/doctest.h>
#include <signal.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <thread>
#include <vector>

#include "record/boot_clock.h"
#include "tests/record/temporary.h"
#include "tests/record/trace_reader.h"

namespace unjank::record {

namespace {

// ThreadSanitizer's runtime ends a forked child that makes a thread while it still has its parent's in the books.
#ifdef __SANITIZE_THREAD__
constexpr bool kThreadsAfterFork = false;
#else
constexpr bool kThreadsAfterFork = true;
#endif

using test::ReadEvent;
using test::ReadTrace;
using test::TemporaryFolder;

Recorder& recorder() { return Recorder::instance(); }

ReadTrace trace_in(const std::string& path) { return test::read_trace(test::file_content(path)); }

/// A recording for the length of a scope, unless it was stopped before.
class Recording {
 public:
  explicit Recording(const std::string& path) {
    REQUIRE(recorder().start(PacketFile::create(path), {"program", {"program"}, {{"gil", "on"}}}, false));
  }
  ~Recording() { recorder().stop("exited"); }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
};

/// A thread of the program as the recorder sees it.
class Attached {
 public:
  explicit Attached(std::string name) : log_(recorder().attach()) { recorder().threads().rename(*log_, std::move(name)); }
  ~Attached() { recorder().detach(*log_); }
  Attached(const Attached&) = delete;
  Attached& operator=(const Attached&) = delete;

  bool begin(std::uint32_t lock_id = 1) {
    Event event;
    event.ts_ns = boot_ns();
    event.kind = EventKind::kWaitBegin;
    event.lock_id = lock_id;
    return recorder().begin(*log_, event);
  }
  void end() {
    Event event;
    event.ts_ns = boot_ns();
    recorder().end(*log_, event);
  }
  /// A wait with its end. Lets the writer come along, so that nothing is dropped.
  void wait_once(std::uint32_t lock_id) {
    while (log_->own_ring().size() > Ring::capacity() / 2) std::this_thread::yield();
    if (begin(lock_id)) end();
  }
  ThreadLog& log() { return *log_; }

 private:
  std::shared_ptr<ThreadLog> log_;
};

void in_threads(int count, const std::function<void(int)>& body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(body, i);
  for (std::thread& thread : threads) thread.join();
}

/// The waits on the track as their lock ids; throws if a slice is torn or out of order.
std::vector<std::string> waits_on(const ReadTrace& trace, const std::string& thread) {
  std::vector<std::string> ids;
  std::int64_t last = 0;
  bool open = false;
  for (const ReadEvent& event : trace.on(trace.track_of(thread))) {
    if (event.type == ReadEvent::kInstant) continue;
    if (event.ts_ns < last) throw std::runtime_error("time runs backwards");
    if (open == (event.type == ReadEvent::kBegin)) throw std::runtime_error("slices do not pair");
    last = event.ts_ns;
    open = !open;
    if (open) ids.push_back(event.argument("lock_id"));
  }
  if (open) throw std::runtime_error("a slice is open at the end");
  return ids;
}

}  // namespace

TEST_CASE("what many threads put in while the writer runs is in the file, each event once and in order") {
  const TemporaryFolder folder;
  constexpr int kThreads = 8;
  constexpr std::uint32_t kWaits = 5'000;
  {
    const Recording recording(folder.file("t"));
    in_threads(kThreads, [](int number) {
      Attached thread("worker " + std::to_string(number));
      for (std::uint32_t i = 1; i <= kWaits; ++i) thread.wait_once(i);
    });
    const RecordingEnd end = recorder().stop("exited");
    CHECK(end.error == 0);
    CHECK(end.events == 2 * kThreads * kWaits);
    CHECK(end.dropped == 0);
    CHECK(end.bytes == std::filesystem::file_size(folder.file("t")));
  }
  const ReadTrace trace = trace_in(folder.file("t"));
  for (int number = 0; number < kThreads; ++number) {
    const std::vector<std::string> ids = waits_on(trace, "worker " + std::to_string(number));
    REQUIRE(ids.size() == kWaits);
    for (std::uint32_t i = 1; i <= kWaits; ++i) REQUIRE(ids[i - 1] == std::to_string(i));
  }
  CHECK(trace.named("session end").at(0).argument("events") == std::to_string(2 * kThreads * kWaits));
  CHECK_FALSE(trace.named("flush").empty());
}

TEST_CASE("flush puts what came before it into the file") {
  const TemporaryFolder folder;
  const Recording recording(folder.file("t"));
  Attached thread("worker");
  for (std::uint32_t i = 1; i <= 100; ++i) {
    thread.wait_once(i);
    recorder().flush();
    REQUIRE(waits_on(trace_in(folder.file("t")), "worker").size() == i);
  }
}

TEST_CASE("several threads may flush at once") {
  const TemporaryFolder folder;
  const Recording recording(folder.file("t"));
  in_threads(4, [](int number) {
    Attached thread("worker " + std::to_string(number));
    for (std::uint32_t i = 1; i <= 50; ++i) thread.wait_once(i), recorder().flush();
  });
  const ReadTrace trace = trace_in(folder.file("t"));
  for (int number = 0; number < 4; ++number) CHECK(waits_on(trace, "worker " + std::to_string(number)).size() == 50);
}

TEST_CASE("there is one recording at a time, and stopping none is nothing") {
  const TemporaryFolder folder;
  const Recording recording(folder.file("t"));
  CHECK_FALSE(recorder().start(PacketFile::create(folder.file("other")), {}, false));
  recorder().stop("exited");
  CHECK(recorder().stop("exited").bytes == 0);
  recorder().flush();
}

TEST_CASE("nothing is recorded while there is no recording") {
  Attached thread("worker");
  CHECK_FALSE(thread.begin());
}

TEST_CASE("a wait that is open when the recording stops has no end in it, and none in the next one") {
  const TemporaryFolder folder;
  Attached thread("worker");
  {
    const Recording recording(folder.file("first"));
    REQUIRE(thread.begin(1));
  }
  {
    const Recording recording(folder.file("second"));
    thread.end();
    thread.wait_once(2);
  }
  const ReadTrace first = trace_in(folder.file("first"));
  CHECK(first.on(first.track_of("worker")).back().type == ReadEvent::kBegin);
  CHECK(waits_on(trace_in(folder.file("second")), "worker") == std::vector<std::string>{"2"});
}

TEST_CASE("threads that wait across many recordings leave each file whole and nested") {
  const TemporaryFolder folder;
  std::atomic<bool> done{false};
  std::thread program([&] {
    in_threads(3, [&](int number) {
      Attached thread("worker " + std::to_string(number));
      while (!done) {
        if (thread.begin()) thread.end();
      }
    });
  });
  std::vector<std::string> paths;
  for (int session = 0; session < 15; ++session) {
    paths.push_back(folder.file(std::to_string(session)));
    const Recording recording(paths.back());
    recorder().flush();
  }
  done = true;
  program.join();
  for (const std::string& path : paths) {
    std::map<std::uint64_t, int> depth;
    for (const ReadEvent& event : trace_in(path).events) {
      if (event.type == ReadEvent::kBegin) ++depth[event.track];
      if (event.type == ReadEvent::kEnd) REQUIRE(--depth[event.track] >= 0);
    }
    for (const auto& [track, open] : depth) CHECK(open <= 1);
  }
}

TEST_CASE("a full ring is seen in the file, as a count") {
  const TemporaryFolder folder;
  constexpr int kWaits = 200'000;
  {
    const Recording recording(folder.file("t"));
    Attached thread("worker");
    for (int i = 0; i < kWaits; ++i) {
      if (thread.begin()) thread.end();
    }
  }
  const ReadTrace trace = trace_in(folder.file("t"));
  std::size_t dropped = 0;
  for (const ReadEvent& event : trace.named("events dropped")) dropped += std::stoul(event.argument("count"));
  CHECK(waits_on(trace, "worker").size() + dropped == kWaits);
  CHECK(trace.named("session end").at(0).argument("dropped") == std::to_string(dropped));
}

TEST_CASE("short-lived threads are all there, and forgotten once written") {
  const TemporaryFolder folder;
  constexpr int kThreads = 500;
  {
    const Recording recording(folder.file("t"));
    for (int i = 0; i < kThreads; ++i) {
      std::thread([i] { Attached("short " + std::to_string(i)).wait_once(1); }).join();
    }
    recorder().flush();
    CHECK(recorder().threads().live().size() < 10);
  }
  const ReadTrace trace = trace_in(folder.file("t"));
  for (int i = 0; i < kThreads; ++i) REQUIRE(waits_on(trace, "short " + std::to_string(i)).size() == 1);
}

TEST_CASE("a child that is forked while recording has a process of its own in the file" * doctest::skip(!kThreadsAfterFork)) {
  const TemporaryFolder folder;
  {
    const Recording recording(folder.file("t"));
    Attached thread("forker");
    thread.wait_once(1);
    const pid_t child = test::in_child([&] {
      thread.wait_once(2);
      recorder().stop("os._exit");
      return 0;
    });
    CHECK(test::status_of(child) == 0);
    thread.wait_once(3);
  }
  const ReadTrace trace = trace_in(folder.file("t"));
  CHECK(trace.processes.size() == 2);
  std::map<std::int64_t, std::vector<std::string>> waits;  // by process
  for (const ReadEvent& event : trace.events) {
    if (event.name.starts_with("wait ")) waits[trace.threads.at(event.track).pid].push_back(event.argument("lock_id"));
  }
  REQUIRE(waits.size() == 2);
  CHECK(waits.at(getpid()) == std::vector<std::string>{"1", "3"});
  waits.erase(getpid());
  CHECK(waits.begin()->second == std::vector<std::string>{"2"});
}

TEST_CASE("forks from many threads at full load leave the file whole" * doctest::skip(!kThreadsAfterFork)) {
  const TemporaryFolder folder;
  std::atomic<int> failures{0};
  {
    const Recording recording(folder.file("t"));
    in_threads(4, [&](int number) {
      Attached thread("forker " + std::to_string(number));
      for (int round = 0; round < 10; ++round) {
        for (std::uint32_t i = 0; i < 200; ++i) thread.wait_once(i);
        const pid_t child = fork();
        if (child == 0) {
          for (std::uint32_t i = 0; i < 20; ++i) thread.wait_once(i);
          recorder().stop("os._exit");
          _exit(0);
        }
        int status = 0;
        failures += child < 0 || waitpid(child, &status, 0) != child || status != 0;
      }
    });
  }
  CHECK(failures == 0);
  const ReadTrace trace = trace_in(folder.file("t"));
  CHECK(trace.processes.size() == 41);
  CHECK(trace.named("session end").size() == 41);
}

TEST_CASE("a child that is killed leaves the file whole for its parent" * doctest::skip(!kThreadsAfterFork)) {
  const TemporaryFolder folder;
  {
    const Recording recording(folder.file("t"));
    Attached thread("forker");
    const pid_t child = test::in_child([&] {
      for (std::uint32_t i = 0;; ++i) thread.wait_once(i);
      return 0;
    });
    while (trace_in(folder.file("t")).processes.size() < 2) std::this_thread::yield();
    kill(child, SIGKILL);
    CHECK(WIFSIGNALED(test::status_of(child)));
    thread.wait_once(1);
  }
  CHECK(trace_in(folder.file("t")).named("session end").size() == 1);
}

TEST_CASE("a disk that is full does not stop the program, and is told at the end") {
  {
    const Recording recording("/dev/full");
    Attached thread("worker");
    for (std::uint32_t i = 0; i < 10'000; ++i) thread.wait_once(i);
    CHECK(recorder().stop("exited").error == ENOSPC);
  }
  CHECK_FALSE(recorder().recording());
}

TEST_CASE("the program's signals are never delivered to the writer") {
  const TemporaryFolder folder;
  static std::atomic<pthread_t> handled_by{};
  struct sigaction action {}, before {};
  action.sa_handler = [](int) { handled_by = pthread_self(); };
  sigaction(SIGUSR1, &action, &before);
  {
    const Recording recording(folder.file("t"));
    for (int i = 0; i < 100; ++i) {
      kill(getpid(), SIGUSR1);
      CHECK(pthread_equal(handled_by, pthread_self()));
    }
  }
  sigaction(SIGUSR1, &before, nullptr);
}

}  // namespace unjank::record
