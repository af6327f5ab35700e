// How long a thread ran, and how long it was ready but kept off the CPU: /proc/PID/task/TID/schedstat.
//
// For the slow path of a lock: no allocation, no locale, three system calls. Needs no rights for threads of
// one's own processes. Format: "run_ns wait_ns timeslices" (Documentation/scheduler/sched-stats.rst).
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace unjank {

struct SchedStat {
  std::uint64_t run_ns;   // time on a CPU since the thread was born
  std::uint64_t wait_ns;  // time on a run queue, ready to run, since the thread was born
};

inline std::optional<SchedStat> parse_schedstat(std::string_view text) {
  SchedStat stat{};
  const char* const end = text.data() + text.size();
  const auto run = std::from_chars(text.data(), end, stat.run_ns);
  if (run.ec != std::errc{} || run.ptr == end || *run.ptr != ' ') return std::nullopt;
  const auto wait = std::from_chars(run.ptr + 1, end, stat.wait_ns);
  if (wait.ec != std::errc{}) return std::nullopt;
  return stat;
}

namespace detail {

// "/proc/PID/task/TID/schedstat"; pid 0 is the calling process.
class SchedStatPath {
 public:
  SchedStatPath(int pid, int tid) {
    add("/proc/");
    pid == 0 ? add("self") : add(pid);
    add("/task/");
    add(tid);
    add("/schedstat");
    *at_ = '\0';
  }
  const char* c_str() const { return text_; }

 private:
  void add(std::string_view part) {
    std::memcpy(at_, part.data(), part.size());
    at_ += part.size();
  }
  void add(int number) { at_ = std::to_chars(at_, text_ + sizeof text_, number).ptr; }

  char text_[64];  // 28 characters and two numbers of at most 11
  char* at_ = text_;
};

}  // namespace detail

// Nothing where the thread is gone, the kernel keeps no such figures (CONFIG_SCHED_INFO), or /proc is hidden.
// `errno` is the caller's again afterwards: a lock must not change it.
inline std::optional<SchedStat> read_schedstat(int tid, int pid = 0) {
  const int saved_errno = errno;
  std::optional<SchedStat> stat;
  const int fd = ::open(detail::SchedStatPath(pid, tid).c_str(), O_RDONLY | O_CLOEXEC);
  if (fd >= 0) {
    char text[64];
    const ssize_t size = ::read(fd, text, sizeof text);
    if (size > 0) stat = parse_schedstat({text, static_cast<std::size_t>(size)});
    ::close(fd);
  }
  errno = saved_errno;
  return stat;
}

}  // namespace unjank
