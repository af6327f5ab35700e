#include "ftrace/file_text.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace unjank::ftrace {
namespace {

// How far below the process's limit our numbers begin; room for one per CPU of a large machine.
constexpr rlim_t kOwnNumbers = 512;
constexpr rlim_t kHighest = 65536;

int move_high(int fd) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return fd;
  const rlim_t top = std::min(limit.rlim_cur, kHighest);
  if (top <= 2 * kOwnNumbers) return fd;
  const int moved = ::fcntl(fd, F_DUPFD_CLOEXEC, static_cast<int>(top - kOwnNumbers));
  if (moved < 0) return fd;
  ::close(fd);
  return moved;
}

}  // namespace

OwnFd::OwnFd(int fd) : fd_(fd < 0 ? fd : move_high(fd)) {
  struct stat info {};
  if (fd_ < 0 || ::fstat(fd_, &info) != 0) return;
  device_ = info.st_dev;
  inode_ = info.st_ino;
}

OwnFd::~OwnFd() {
  if (is_ours()) ::close(fd_);
}

bool OwnFd::is_ours() const {
  struct stat info {};
  return fd_ >= 0 && ::fstat(fd_, &info) == 0 && info.st_dev == device_ && info.st_ino == inode_;
}

std::optional<std::string> read_text(const std::string& path, std::size_t limit) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  std::string text;
  char chunk[4096];
  ssize_t size = 1;
  while (size > 0 && text.size() < limit) {
    size = ::read(fd, chunk, std::min(sizeof chunk, limit - text.size()));
    if (size > 0) text.append(chunk, static_cast<std::size_t>(size));
  }
  const int error = errno;
  ::close(fd);
  errno = error;
  return size < 0 ? std::nullopt : std::optional(std::move(text));
}

}  // namespace unjank::ftrace
