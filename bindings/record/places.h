// Where the calling thread is in its Python code, as numbers of the recorder's dictionary.
#pragma once

#include <Python.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
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

/// In place of an instruction: a function as such, with its first line.
inline constexpr int kWholeFunction = -1;

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

  /// The site for what has a name and no Python code. `key` is an address that means the same for as long as `alive`
  /// lives: that is for ever, if the key is new here.
  template <class Name>
  std::uint32_t named(const void* key, PyObject* alive, Name&& name) {
    KnownName& known = known_names_[(reinterpret_cast<std::uintptr_t>(key) >> 4) % kKnown];
    if (known.key != key) known = {key, named_once(key, alive, name())};
    return known.site;
  }

  /// For each dispatch that this thread is in, the outermost first: whether its end is owed to the recording.
  std::vector<bool> dispatches;

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
  struct KnownName {
    const void* key = nullptr;
    std::uint32_t site = 0;
  };
  static constexpr std::size_t kKnown = 256;

  static std::uint32_t named_once(const void* key, PyObject* alive, const std::string& name);

  std::shared_ptr<ThreadLog> log_;
  std::array<Known, kKnown> known_{};
  std::array<KnownName, kKnown> known_names_{};
};

/// Tells which files are threading.py and the like, by their code objects' file name.
void set_file_role(std::string path, FileRole role);

/// The entry for a wait in a function that has no Python code of its own, such as SimpleQueue.get.
std::uint32_t named_function(const std::string& name);

}  // namespace unjank::record
