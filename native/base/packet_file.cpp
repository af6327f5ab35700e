#include "base/packet_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <system_error>
#include <utility>

namespace unjank {

// `committed` — Encodes: bytes of the file that are whole packets. Written by: whoever holds the flock,
// which orders the accesses; atomic only because two processes map it.
// `error` — Encodes: the first failure's errno, 0 for none. Written by: the writer whose CAS wins. Only told.
struct PacketFile::Shared {
  std::atomic<std::uint64_t> committed;
  std::atomic<int> error;
};

namespace {

/// Descriptors from here up are ours: high, but below what the process may have.
int high_descriptor_floor() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const auto top = static_cast<int>(std::min<rlim_t>(limit.rlim_cur, 65536));
  return std::max(3, top - 64);
}

/// Moves `fd` out of the way of the program's own; keeps it where it is if there is no room.
int move_high(int fd) {
  const int moved = fcntl(fd, F_DUPFD_CLOEXEC, high_descriptor_floor());
  if (moved < 0) return fd;
  close(fd);
  return moved;
}

[[noreturn]] void throw_errno(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

int open_for_append(const std::string& path, int extra_flags) {
  int fd;
  do {
    fd = open(path.c_str(), O_WRONLY | O_CLOEXEC | extra_flags, 0666);
  } while (fd < 0 && errno == EINTR);
  return fd;
}

/// Holds the file's advisory lock for its scope.
class FileLock {
 public:
  explicit FileLock(int fd) : fd_(fd) {
    while (flock(fd_, LOCK_EX) != 0 && errno == EINTR) {
    }
  }
  ~FileLock() { flock(fd_, LOCK_UN); }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int fd_;
};

}  // namespace

PacketFile PacketFile::create(const std::string& path) {
  const int fd = open_for_append(path, O_CREAT | O_TRUNC);
  if (fd < 0) throw_errno(path);
  const int shared = memfd_create("unjank-committed", MFD_CLOEXEC);
  if (shared < 0 || ftruncate(shared, sizeof(Shared)) != 0) {
    close(fd);
    throw_errno("memfd_create");
  }
  return {path, fd, shared};
}

PacketFile PacketFile::join(const std::string& path, int shared_fd) {
  const int fd = open_for_append(path, 0);
  if (fd < 0) throw_errno(path);
  const int shared = fcntl(shared_fd, F_DUPFD_CLOEXEC, 3);
  if (shared < 0) {
    close(fd);
    throw_errno("shared state of the trace file");
  }
  return {path, fd, shared};
}

PacketFile::PacketFile(std::string path, int fd, int shared_fd)
    : path_(std::move(path)), fd_(move_high(fd)), shared_fd_(move_high(shared_fd)) {
  file_ = Identity::of(fd_);
  memory_ = Identity::of(shared_fd_);
  void* mapped = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, shared_fd_, 0);
  if (mapped == MAP_FAILED) throw_errno("mmap of the trace file's shared state");
  shared_ = static_cast<Shared*>(mapped);
}

PacketFile::PacketFile(PacketFile&& other) noexcept
    : path_(std::move(other.path_)),
      fd_(std::exchange(other.fd_, -1)),
      shared_fd_(std::exchange(other.shared_fd_, -1)),
      shared_(std::exchange(other.shared_, nullptr)),
      file_(other.file_),
      memory_(other.memory_),
      failed_(other.failed_) {}

PacketFile::~PacketFile() {
  if (shared_ != nullptr) munmap(shared_, sizeof(Shared));
  if (file_.is(fd_)) close(fd_);
  if (memory_.is(shared_fd_)) close(shared_fd_);
}

PacketFile::Identity PacketFile::Identity::of(int fd) {
  struct stat info {};
  if (fstat(fd, &info) != 0) return {};
  return {info.st_dev, info.st_ino, S_ISREG(info.st_mode)};
}

bool PacketFile::Identity::is(int fd) const {
  struct stat info {};
  return fd >= 0 && fstat(fd, &info) == 0 && info.st_dev == device && info.st_ino == inode;
}

bool PacketFile::append(std::span<const std::byte> whole_packets) {
  if (whole_packets.empty()) return true;
  if (failed_ || !ensure_open()) return false;
  const FileLock lock(fd_);
  return append_locked(whole_packets);
}

bool PacketFile::append_locked(std::span<const std::byte> packets) {
  const std::uint64_t whole = committed();
  struct stat info {};
  if (fstat(fd_, &info) != 0) return fail(errno);
  // A pipe or device has no size to mend; only what a regular file holds can be torn.
  const bool torn = S_ISREG(info.st_mode) && static_cast<std::uint64_t>(info.st_size) > whole;
  if (torn && !cut_back_to(whole)) return fail(errno);
  if (!write_at(packets, whole)) {
    const int error = errno;
    cut_back_to(whole);
    return fail(error);
  }
  shared_->committed.store(whole + packets.size(), std::memory_order_relaxed);
  return true;
}

/// Drops a torn tail. Should it fail, the next writer tries again; until then readers call the file truncated.
bool PacketFile::cut_back_to(std::uint64_t whole) { return ftruncate(fd_, static_cast<off_t>(whole)) == 0; }

bool PacketFile::write_at(std::span<const std::byte> bytes, std::uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t done = file_.regular ? pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset))
                                       : write(fd_, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(done));
    offset += static_cast<std::uint64_t>(done);
  }
  return true;
}

bool PacketFile::ensure_open() {
  if (file_.is(fd_)) return true;
  fd_ = open_for_append(path_, 0);
  if (fd_ < 0) return fail(errno);
  if (file_.is(fd_)) return fd_ = move_high(fd_), true;
  close(std::exchange(fd_, -1));  // another file lies there now
  return fail(ESTALE);
}

bool PacketFile::fail(int error) {
  failed_ = true;
  int none = 0;
  shared_->error.compare_exchange_strong(none, error, std::memory_order_relaxed);
  return false;
}

int PacketFile::share() const {
  if (memory_.is(shared_fd_)) return fcntl(shared_fd_, F_DUPFD_CLOEXEC, 3);
  errno = EBADF;
  return -1;
}

void PacketFile::reopen_after_fork() {
  const int inherited = std::exchange(fd_, -1);  // without one of our own, the next append opens it by its path
  if (!file_.is(inherited)) return;
  // By way of the descriptor: the file may have been renamed, or deleted, since it was opened.
  const int own = open_for_append("/proc/self/fd/" + std::to_string(inherited), 0);
  close(inherited);
  if (own >= 0) fd_ = move_high(own);
}

int PacketFile::error() const { return shared_->error.load(std::memory_order_relaxed); }

std::uint64_t PacketFile::committed() const { return shared_->committed.load(std::memory_order_relaxed); }

}  // namespace unjank
