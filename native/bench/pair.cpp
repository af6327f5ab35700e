#include "bench/pair.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "base/signals_blocked.h"
#include "bench/thread_group.h"

namespace unjank::bench {

namespace {

constexpr const char* kSide = "one side of the pair";

[[noreturn]] void fail(int error, const char* what) { throw std::system_error(error, std::generic_category(), what); }

void require_both(int first, int second) {
  const int error = first == 0 || (first == ECANCELED && second != 0) ? second : first;
  if (error != 0) fail(error, kSide);
}

// Two children in a process group of their own: the terminal's Ctrl-C does not reach them, and waiting for the group reaps
// no child of anybody else.
class Children {
 public:
  Children() = default;
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;
  ~Children() {
    if (group_ == 0) return;
    ::kill(-group_, SIGKILL);
    while (::waitpid(-group_, nullptr, 0) > 0 || errno == EINTR) {}
  }

  void start(std::size_t index, const SideWork& work) {
    const pid_t parent = ::getpid();
    const pid_t child = ::fork();
    if (child < 0) fail(errno, "forking");
    if (child == 0) live(work, parent);
    pids_[index] = child;
    if (group_ == 0) group_ = child;
    ::setpgid(child, group_);  // here as well as there: whoever comes first
  }

  // Waits for the next to end; its exit code is its errno. One that failed may leave the other waiting for ever.
  void reap() {
    int status = 0;
    pid_t child;
    while ((child = ::waitpid(-group_, &status, 0)) < 0) {
      if (errno != EINTR) fail(errno, "waiting for a process");
    }
    if (!WIFEXITED(status)) fail(ESRCH, "one side was killed");
    const int error = errors_[child == pids_[1]] = WEXITSTATUS(status);
    if (error != 0 && error != ECANCELED) fail(error, kSide);
  }
  int error(std::size_t index) const { return errors_[index]; }
  void disown() { group_ = 0; }

 private:
  [[noreturn]] void live(const SideWork& work, pid_t parent) noexcept {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(ECANCELED);  // it died before it could be heard
    ::setpgid(0, group_);
    ::_exit(work());
  }

  std::array<pid_t, 2> pids_{};
  std::array<int, 2> errors_{};
  pid_t group_ = 0;
};

}  // namespace

void run_as_threads(const SideWork& first, const SideWork& second) {
  std::array<int, 2> errors{};
  ThreadGroup sides(2, [&](std::size_t index) { errors[index] = index == 0 ? first() : second(); });
  sides.release();
  sides.join();
  require_both(errors[0], errors[1]);
}

void run_as_processes(const SideWork& first, const SideWork& second) {
  Children children;
  const SignalsBlocked blocked;  // inherited; and this thread cannot be interrupted between the two
  children.start(0, first);
  children.start(1, second);
  children.reap();
  children.reap();
  children.disown();
  require_both(children.error(0), children.error(1));
}

}  // namespace unjank::bench
