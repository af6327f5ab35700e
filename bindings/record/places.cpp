#include "places.h"

#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "base/thread_local.h"

namespace unjank::record {

namespace {

constexpr int kMaxStack = 24;

/// The text of a str object; "?" where it has no UTF-8 form.
std::string text_of(PyObject* object) {
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(object, &size);
  if (text != nullptr) return {text, static_cast<std::size_t>(size)};
  PyErr_Clear();
  return "?";
}

std::string last_part(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

/// Sites that have been seen, by code object and instruction. Process-wide; asked on a thread's first visit.
class SiteIndex {
 public:
  static SiteIndex& instance() {
    static SiteIndex* const index = new SiteIndex;
    return *index;
  }

  void set_role(std::string path, FileRole role) {
    const std::lock_guard guard(mutex_);
    roles_[std::move(path)] = role;
  }

  Place find_or_add(PyCodeObject* code, int offset) {
    if (Place known; find({code, offset}, known)) return known;
    // Nothing of Python is called while the index is locked: a finalizer that ran in between could come here.
    const std::string path = text_of(code->co_filename);
    Site site{text_of(code->co_qualname), path, last_part(path),
              static_cast<std::uint32_t>(std::max(0, PyCode_Addr2Line(code, offset)))};
    return add({code, offset}, std::move(site));
  }

  std::uint32_t named(const std::string& name) {
    const std::lock_guard guard(mutex_);
    auto [entry, fresh] = named_.try_emplace(name, 0);
    if (fresh) entry->second = Recorder::instance().dictionary().sites.add({name, "", "", 0});
    return entry->second;
  }

  std::uint32_t named_by_key(const void* key, PyObject* alive, const std::string& name) {
    const std::uint32_t site = named(name);
    if (site == 0) return 0;
    bool fresh;
    {
      const std::lock_guard guard(mutex_);
      fresh = keys_.insert(key).second;
    }
    if (fresh) Py_INCREF(alive);  // for ever: threads remember the address
    return site;
  }

  std::mutex& mutex() { return mutex_; }

 private:
  using Key = std::pair<PyCodeObject*, int>;
  struct Hash {
    std::size_t operator()(const Key& key) const {
      return std::hash<void*>{}(key.first) * 31 + static_cast<std::size_t>(key.second);
    }
  };

  SiteIndex() {
    // Fork handlers run last registered first: this mutex must be taken before the recorder's, as `add` does.
    Recorder::instance();
    pthread_atfork([] { instance().mutex_.lock(); }, [] { instance().mutex_.unlock(); },
                   [] { instance().mutex_.unlock(); });
  }

  FileRole role_of(const Site& site) const {
    const auto known = roles_.find(site.path);
    if (known == roles_.end()) return FileRole::kProgram;
    // What starts a thread is no place in it: a thread whose target is Event.wait waits in Event.wait.
    const bool starts = site.function == "Thread.run" || site.function.starts_with("Thread._bootstrap");
    return known->second == FileRole::kWrapper && starts ? FileRole::kOwn : known->second;
  }

  bool find(const Key& key, Place& place) {
    const std::lock_guard guard(mutex_);
    const auto known = sites_.find(key);
    if (known == sites_.end()) return false;
    place = known->second;
    return true;
  }

  Place add(const Key& key, Site site) {
    Place place;
    {
      const std::lock_guard guard(mutex_);
      place.role = role_of(site);
      const auto [entry, fresh] = sites_.try_emplace(key, place);
      if (!fresh) return entry->second;
      place.site = entry->second.site = Recorder::instance().dictionary().sites.add(std::move(site));
      if (place.site == 0) sites_.erase(entry);  // full: unknown from now on, and nothing is kept
    }
    if (place.site != 0) Py_INCREF(key.first);  // for ever: the address is a key
    return place;
  }

  std::mutex mutex_;
  std::map<std::string, FileRole, std::less<>> roles_;
  std::unordered_map<Key, Place, Hash> sites_;
  std::unordered_map<std::string, std::uint32_t> named_;
  std::unordered_set<const void*> keys_;
};

/// Ends the log with the thread.
struct ThreadEnd {
  ThreadPlaces* places = nullptr;
  ~ThreadEnd();
};

// The pointer is read on every acquire: initial-exec spares the call that finds it.
thread_local ThreadPlaces* current_places UNJANK_STATIC_TLS = nullptr;
thread_local ThreadEnd thread_end;

ThreadEnd::~ThreadEnd() {
  if (places == nullptr) return;
  current_places = nullptr;
  Recorder::instance().detach(places->log());
  delete places;
}

ThreadPlaces& attach_current() {
  current_places = new ThreadPlaces(Recorder::instance().attach());
  thread_end.places = current_places;
  return *current_places;
}

}  // namespace

void set_file_role(std::string path, FileRole role) { SiteIndex::instance().set_role(std::move(path), role); }

std::uint32_t named_function(const std::string& name) { return SiteIndex::instance().named(name); }

ThreadPlaces& ThreadPlaces::current() { return current_places != nullptr ? *current_places : attach_current(); }

Place ThreadPlaces::place_of(const UnjankFrame& frame) {
  const std::size_t slot =
      (reinterpret_cast<std::uintptr_t>(frame.code) >> 4 ^ static_cast<std::uintptr_t>(frame.offset) >> 1) % kKnown;
  Known& known = known_[slot];
  if (known.code == frame.code && known.offset == frame.offset) [[likely]] return known.place;
  const Place place = SiteIndex::instance().find_or_add(frame.code, frame.offset);
  if (place.site != 0) known = {frame.code, frame.offset, place};
  return place;
}

std::uint32_t ThreadPlaces::named_once(const void* key, PyObject* alive, const std::string& name) {
  return SiteIndex::instance().named_by_key(key, alive, name);
}

std::uint32_t ThreadPlaces::acquire_site() {
  UnjankFrame frame;
  if (!unjank_frame_current(&frame)) return 0;
  Place place = place_of(frame);
  const std::uint32_t innermost = place.site;
  while (place.is_wrapper()) {
    if (!unjank_frame_outer(&frame)) return innermost;
    place = place_of(frame);
  }
  return place.site;
}

std::uint32_t ThreadPlaces::stack() {
  std::vector<std::uint32_t> sites;
  UnjankFrame frame;
  for (int more = unjank_frame_current(&frame); more && sites.size() < kMaxStack; more = unjank_frame_outer(&frame)) {
    const Place place = place_of(frame);
    if (place.role != FileRole::kOwn) sites.push_back(place.site);
  }
  return Recorder::instance().dictionary().stacks.intern(sites);
}

}  // namespace unjank::record
