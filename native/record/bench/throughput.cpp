// How many events a second the recorder puts on disk: rings, encoder, file, with nothing of Python.
//
//   recorder_throughput FILE THREADS EVENTS_PER_SECOND SECONDS [TEXTS]
//
// Each thread writes begin and end events in time with its share of the rate. A thread that is held up goes on from
// there and does not catch up, so the rate reached may be lower. With a rate of 0 a thread writes as fast as its ring
// is emptied. Each of TEXTS lock names, places and stacks is used in turn (64). The result is one line of JSON.
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "record/boot_clock.h"
#include "record/recorder.h"

namespace unjank::record {

namespace {

struct Load {
  std::string path;
  unsigned threads = 8;
  double events_per_second = 1e6;
  double seconds = 2;
  std::uint32_t texts = 64;
};

/// Numbers of the dictionary, as many as there are different texts.
struct Vocabulary {
  std::vector<std::uint32_t> sites, names, stacks;

  explicit Vocabulary(std::uint32_t texts) {
    Dictionary& dictionary = Recorder::instance().dictionary();
    for (std::uint32_t i = 0; i < texts; ++i) {
      const std::string tag = std::to_string(i);
      sites.push_back(dictionary.sites.add({"Ledger.post_" + tag, "/srv/app/bank.py", "bank.py", i}));
      names.push_back(dictionary.names.add({"Ledger._lock_" + tag + " (bank.py:4)", "Ledger"}));
      stacks.push_back(dictionary.stacks.intern({sites.back(), sites.front(), sites[i / 2]}));
    }
  }

  Event begin(std::uint64_t turn, std::uint32_t owner) const {
    const std::size_t at = turn % sites.size();
    Event event;
    event.kind = EventKind::kContentionBegin;
    event.owner = owner;
    event.owner_site = sites[sites.size() - 1 - at];
    event.site = sites[at];
    event.name = names[at];
    event.stack = stacks[at];
    event.lock_id = static_cast<std::uint32_t>(at + 1);
    event.ts_ns = boot_ns();
    return event;
  }
};

/// Holds a thread to its share of the rate.
class Pace {
 public:
  explicit Pace(const Load& load) : pair_ns_(load.events_per_second > 0 ? 2e9 * load.threads / load.events_per_second : 0) {}

  void wait(const Ring& ring) {
    if (pair_ns_ == 0) {
      while (ring.size() > Ring::capacity() / 2) usleep(1000);
      return;
    }
    constexpr double kLate = 2e6;
    const auto now = static_cast<double>(boot_ns());
    due_ns_ += pair_ns_;
    if (now - due_ns_ > kLate) due_ns_ = now;
    if (due_ns_ - now > kLate / 2) usleep(static_cast<useconds_t>((due_ns_ - now) / 1e3));
  }

 private:
  double pair_ns_;
  double due_ns_ = static_cast<double>(boot_ns());
};

void write_events(const Load& load, const Vocabulary& vocabulary) {
  Recorder& recorder = Recorder::instance();
  const auto log = recorder.attach();
  const std::uint32_t owner = log->number > 1 ? log->number - 1 : 2;
  Pace pace(load);
  const std::int64_t until = boot_ns() + static_cast<std::int64_t>(load.seconds * 1e9);
  for (std::uint64_t pair = log->number; boot_ns() < until; ++pair) {
    recorder.begin(*log, vocabulary.begin(pair, owner));
    Event end;
    end.ts_ns = boot_ns();
    end.gil_ns = 100;
    recorder.end(*log, end);
    pace.wait(log->own_ring());
  }
  recorder.detach(*log);
}

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) { return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6; };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

long resident_kb() {
  std::ifstream statm("/proc/self/statm");
  long size = 0;
  long resident = 0;
  statm >> size >> resident;
  return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

int run(const Load& load) {
  Recorder& recorder = Recorder::instance();
  const Vocabulary vocabulary(load.texts);
  recorder.start(PacketFile::create(load.path), {"throughput", {}, {}}, false);
  const double cpu_before = cpu_seconds();
  const std::int64_t begin = boot_ns();
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < load.threads; ++i) threads.emplace_back(write_events, std::cref(load), std::cref(vocabulary));
  for (std::thread& thread : threads) thread.join();
  recorder.flush();
  const double wall = static_cast<double>(boot_ns() - begin) / 1e9;
  const long resident = resident_kb();
  const RecordingEnd end = recorder.stop("exited");
  std::printf("{\"threads\": %u, \"events\": %llu, \"dropped\": %llu, \"bytes\": %llu, \"error\": %d, "
              "\"wall_s\": %.6f, \"cpu_s\": %.6f, \"resident_kb\": %ld}\n",
              load.threads, static_cast<unsigned long long>(end.events), static_cast<unsigned long long>(end.dropped),
              static_cast<unsigned long long>(end.bytes), end.error, wall, cpu_seconds() - cpu_before, resident);
  return end.error == 0 ? 0 : 1;
}

}  // namespace

}  // namespace unjank::record

int main(int count, char** words) {
  if (count < 5) {
    std::fprintf(stderr, "usage: recorder_throughput FILE THREADS EVENTS_PER_SECOND SECONDS [TEXTS]\n");
    return 2;
  }
  unjank::record::Load load;
  load.path = words[1];
  load.threads = static_cast<unsigned>(std::atoi(words[2]));
  load.events_per_second = std::atof(words[3]);
  load.seconds = std::atof(words[4]);
  if (count > 5) load.texts = static_cast<std::uint32_t>(std::atoi(words[5]));
  return run(load);
}
