#include "bench/counters.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <charconv>

#include "base/schedstat.h"

namespace unjank::bench {

namespace {

constexpr std::string_view kMigrations = "se.nr_migrations";

// As much of a file of /proc as fits: what is looked for stands at its beginning.
template <std::size_t kSize>
std::string_view read_start(const char* path, char (&buffer)[kSize]) noexcept {
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  const ssize_t size = ::read(fd, buffer, kSize);
  ::close(fd);
  return size > 0 ? std::string_view(buffer, static_cast<std::size_t>(size)) : std::string_view{};
}

std::int64_t own_cpu_ns() noexcept {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return std::int64_t{used.tv_sec} * 1'000'000'000 + used.tv_nsec;
}

std::int64_t own_migrations() noexcept {
  char buffer[2048];
  return parse_migrations(read_start("/proc/thread-self/sched", buffer));
}

std::int64_t own_run_wait_ns() noexcept {
  char buffer[64];
  const auto stat = parse_schedstat(read_start("/proc/thread-self/schedstat", buffer));
  return stat ? static_cast<std::int64_t>(stat->wait_ns) : kUnknown;
}

std::int64_t difference(std::int64_t after, std::int64_t before) noexcept {
  return after == kUnknown || before == kUnknown ? kUnknown : after - before;
}

}  // namespace

ThreadCounters ThreadCounters::since(const ThreadCounters& before) const noexcept {
  return {voluntary - before.voluntary, involuntary - before.involuntary, difference(migrations, before.migrations),
          cpu_ns - before.cpu_ns, difference(run_wait_ns, before.run_wait_ns)};
}

ThreadCounters own_counters() noexcept {
  ThreadCounters counters;
  counters.migrations = own_migrations();
  counters.run_wait_ns = own_run_wait_ns();
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  counters.voluntary = usage.ru_nvcsw;
  counters.involuntary = usage.ru_nivcsw;
  counters.cpu_ns = own_cpu_ns();
  return counters;
}

std::int64_t parse_migrations(std::string_view text) noexcept {
  const std::size_t at = text.find(kMigrations);
  if (at == std::string_view::npos) return kUnknown;
  text.remove_prefix(at + kMigrations.size());
  const std::size_t digit = text.find_first_not_of(" :\t");
  if (digit == std::string_view::npos) return kUnknown;
  std::int64_t value = kUnknown;
  std::from_chars(text.data() + digit, text.data() + text.size(), value);
  return value;
}

int CpusSeen::note_own() noexcept {
  const int cpu = sched_getcpu();
  if (cpu == last_ || cpu < 0 || cpu >= kLimit) return cpu;
  changes_ += last_ >= 0;
  last_ = cpu;
  seen_[static_cast<unsigned>(cpu) / 64] |= std::uint64_t{1} << (cpu % 64);
  return cpu;
}

}  // namespace unjank::bench
