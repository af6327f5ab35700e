// Where the calling thread is in its Python code, as numbers of the recorder's dictionary.
#pragma once

#include <Python.h>

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "frame.h"
#include "record/recorder.h"

namespace unjank::record {

/// How a file's functions count when a wait is put down to a line of code.
enum class FileRole : std::uint8_t {
  kProgram,  // the user's code and its libraries
  kWrapper,  // threading.py: a lock's own methods; never the place
  kLibrary,  // queue.py, concurrent.futures: the place of a lock, not that of a wait
  kOwn,      // unjank's: as a wrapper, and not in stacks either
};

/// One Python frame: its site, and what its file is.
struct Place {
  std::uint32_t site = 0;
  FileRole role = FileRole::kProgram;

  bool is_wrapper() const { return role == FileRole::kWrapper || role == FileRole::kOwn; }
};

/// The recorder's state of one Python thread. Reached through a thread-local pointer.
class ThreadPlaces {
 public:
  /// Of the calling thread; made on first use.
  static ThreadPlaces& current();

  ThreadLog& log() { return *log_; }
  std::uint32_t number() const { return log_->number; }

  /// The site of the innermost frame outside threading.py. Cheap: every acquire calls it.
  std::uint32_t acquire_site();
  Place place_of(const UnjankFrame& frame);
  /// Sites of the calling thread's frames, innermost first, as one dictionary entry.
  std::uint32_t stack();

  /// The name of the lock this thread released last: a Condition releases its lock right before it waits.
  std::uint32_t last_released = 0;

  explicit ThreadPlaces(std::shared_ptr<ThreadLog> log) : log_(std::move(log)) {}

 private:
  /// A remembered instruction. The dictionary keeps the code object alive, so an address means the same
  /// code for ever.
  struct Known {
    PyCodeObject* code = nullptr;
    int offset = -1;
    Place place;
  };
  static constexpr std::size_t kKnown = 256;

  std::shared_ptr<ThreadLog> log_;
  std::array<Known, kKnown> known_{};
};

/// Tells which files are threading.py and the like, by their code objects' file name.
void set_file_role(std::string path, FileRole role);

/// The entry for a wait in a function that has no Python code of its own, such as SimpleQueue.get.
std::uint32_t named_function(const std::string& name);

}  // namespace unjank::record
