#include "naming.h"

#include <opcode.h>

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace unjank::record {

namespace {

/// An owned reference.
class Owned {
 public:
  explicit Owned(PyObject* object) : object_(object) {}
  ~Owned() { Py_XDECREF(object_); }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  PyObject* get() const { return object_; }

 private:
  PyObject* object_;
};

std::string text_at(PyObject* tuple, int index) {
  if (index < 0 || index >= PyTuple_GET_SIZE(tuple)) return "?";
  const char* text = PyUnicode_AsUTF8(PyTuple_GET_ITEM(tuple, index));
  if (text != nullptr) return text;
  PyErr_Clear();
  return "?";
}

std::string text_of(PyObject* object) {
  const char* text = PyUnicode_AsUTF8(object);
  if (text != nullptr) return text;
  PyErr_Clear();
  return "?";
}

/// Where the value of a call goes.
struct Assignment {
  std::string object;  // of an attribute: the variable before the dot
  std::string name;
  bool in_class_body = false;
};

/// Reads the instructions after a call for as long as they only carry its value to an assignment.
class AssignmentReader {
 public:
  AssignmentReader(PyCodeObject* code, int offset)
      : code_(code), bytes_(PyCode_GetCode(code)), at_(offset + 2) {}

  std::optional<Assignment> read() {
    if (bytes_.get() == nullptr) {
      PyErr_Clear();
      return std::nullopt;
    }
    const Py_ssize_t size = PyBytes_GET_SIZE(bytes_.get());
    const char* code = PyBytes_AS_STRING(bytes_.get());
    while (at_ + 1 < size) {
      const int op = static_cast<unsigned char>(code[at_]);
      const int argument = prefix_ | static_cast<unsigned char>(code[at_ + 1]);
      at_ += 2;
      prefix_ = op == EXTENDED_ARG ? argument << 8 : 0;
      if (op == EXTENDED_ARG || carries_on(op, argument)) continue;
      return finish(op, argument);
    }
    return std::nullopt;
  }

 private:
  /// Instructions between a call and the assignment of its value.
  bool carries_on(int op, int argument) {
    switch (op) {
      case CACHE:
      case NOP:
      case COPY:
#ifdef BEFORE_WITH
      case BEFORE_WITH:  // what __enter__ answers is nearly always the object itself
#endif
        return true;
      case JUMP_FORWARD:
        at_ += 2 * argument;
        return true;
      case LOAD_FAST:
#ifdef LOAD_FAST_CHECK
      case LOAD_FAST_CHECK:
#endif
#ifdef LOAD_FAST_BORROW
      case LOAD_FAST_BORROW:
#endif
      case LOAD_DEREF:
        return load(local(argument));
      case LOAD_NAME:
        return load(text_at(code_->co_names, argument));
      case LOAD_GLOBAL:
        return load(text_at(code_->co_names, argument >> 1));
      default:
        return false;
    }
  }

  /// The object whose attribute is assigned; a second load means the value goes elsewhere.
  bool load(std::string name) {
    if (!object_.empty()) return false;
    object_ = std::move(name);
    return true;
  }

  std::optional<Assignment> finish(int op, int argument) const {
    if (op == STORE_ATTR) return Assignment{object_, text_at(code_->co_names, argument)};
    if (!object_.empty()) return std::nullopt;
    switch (op) {
      case STORE_FAST:
      case STORE_DEREF:
        return Assignment{"", local(argument)};
#ifdef STORE_FAST_STORE_FAST
      case STORE_FAST_STORE_FAST:
      case STORE_FAST_LOAD_FAST:
        return Assignment{"", local(argument >> 4)};
#endif
      case STORE_GLOBAL:
        return Assignment{"", text_at(code_->co_names, argument)};
      case STORE_NAME:
        return Assignment{"", text_at(code_->co_names, argument), text_of(code_->co_name) != "<module>"};
      default:
        return std::nullopt;
    }
  }

  std::string local(int index) const { return text_at(code_->co_localsplusnames, index); }

  PyCodeObject* code_;
  Owned bytes_;
  int at_;
  int prefix_ = 0;
  std::string object_;
};

/// "main.<locals>.Ledger.__init__" is of class "Ledger"; "main" of none.
std::string class_of(const std::string& qualified_name) {
  const std::size_t dot = qualified_name.rfind('.');
  if (dot == std::string::npos) return "";
  std::string owner = qualified_name.substr(0, dot);
  const std::string locals = "<locals>.";
  if (const std::size_t inner = owner.rfind(locals); inner != std::string::npos) {
    owner = owner.substr(inner + locals.size());
  }
  return owner.ends_with("<locals>") ? "" : owner;
}

/// The class a method's `self` is of; generated methods, as dataclasses have, are not named after it.
std::string class_of_self(const UnjankFrame& frame) {
  const char* type = unjank_frame_first_local_type(&frame);
  if (type == nullptr) return "";
  const std::string name = type;
  return name.substr(name.rfind('.') + 1);
}

std::string first_local(PyCodeObject* code) {
  return code->co_argcount > 0 ? text_at(code->co_localsplusnames, 0) : "";
}

/// "Ledger._book_lock", "lock", "ledger.lock"; empty if the call's value is not assigned.
std::string assigned_name(const UnjankFrame& frame) {
  const auto assignment = AssignmentReader(frame.code, frame.offset).read();
  if (!assignment) return "";
  const std::string function = text_of(frame.code->co_qualname);
  if (assignment->in_class_body) return function + '.' + assignment->name;
  if (assignment->object.empty()) return assignment->name;
  if (assignment->object != first_local(frame.code)) return assignment->object + '.' + assignment->name;
  std::string owner = class_of(function);
  if (owner.empty() && assignment->object == "self") owner = class_of_self(frame);
  return (owner.empty() ? assignment->object : owner) + '.' + assignment->name;
}

/// The frames from the lock's constructor out to the program's own.
struct Creation {
  std::vector<UnjankFrame> frames;  // innermost first; the last is the program's, if any is
  std::vector<std::uint32_t> sites;
  bool has_program = false;
};

Creation creation_frames(ThreadPlaces& places) {
  constexpr std::size_t kMostFrames = 16;
  Creation creation;
  UnjankFrame frame;
  for (int more = unjank_frame_current(&frame); more && creation.frames.size() < kMostFrames;
       more = unjank_frame_outer(&frame)) {
    const Place place = places.place_of(frame);
    creation.frames.push_back(frame);
    creation.sites.push_back(place.site);
    creation.has_program = place.role == FileRole::kProgram;
    if (creation.has_program) break;
  }
  return creation;
}

/// ".mutex" of a queue's lock: attributes that a library's constructors gave it, but not threading.py's.
std::string library_attributes(ThreadPlaces& places, const Creation& creation) {
  std::string path;
  for (std::size_t i = 0; i + 1 < creation.frames.size(); ++i) {
    const UnjankFrame& frame = creation.frames[i];
    if (places.place_of(frame).role != FileRole::kLibrary || text_of(frame.code->co_name) != "__init__") continue;
    const std::string name = assigned_name(frame);
    if (const std::size_t dot = name.rfind('.'); dot != std::string::npos) path = name.substr(dot) + path;
  }
  return path;
}

/// What was made, when it was assigned to nothing: the class of the outermost library frame, or the type.
std::string made_object(const Creation& creation, const char* what) {
  for (std::size_t i = creation.frames.size() - 1; i-- > 0;) {
    const std::string owner = class_of(text_of(creation.frames[i].code->co_qualname));
    if (!owner.empty()) return owner;
  }
  return what;
}

Name describe(ThreadPlaces& places, const Creation& creation, const char* what) {
  const UnjankFrame& outermost = creation.frames.back();
  const Site site = Recorder::instance().dictionary().sites.at(creation.sites.back());
  std::string base = creation.has_program ? assigned_name(outermost) : "";
  if (base.empty()) base = made_object(creation, what) + " in " + site.function;
  const std::string location = " (" + site.file + ':' + std::to_string(site.line) + ')';
  return {base + library_attributes(places, creation) + location, base + location};
}

/// Names that were made already, by the sites of the making frames.
class NameIndex {
 public:
  static NameIndex& instance() {
    static NameIndex* const index = new NameIndex;
    return *index;
  }

  std::optional<std::uint32_t> find(const std::vector<std::uint32_t>& sites) {
    const std::lock_guard guard(mutex_);
    const auto known = names_.find(sites);
    return known == names_.end() ? std::nullopt : std::optional(known->second);
  }

  std::uint32_t add(const std::vector<std::uint32_t>& sites, Name name) {
    const std::lock_guard guard(mutex_);
    const auto [entry, fresh] = names_.try_emplace(sites, 0);
    if (fresh) entry->second = Recorder::instance().dictionary().names.add(std::move(name));
    const std::uint32_t id = entry->second;
    if (id == 0) names_.erase(entry);
    return id;
  }

 private:
  NameIndex() {
    Recorder::instance();  // its fork handlers come first: this mutex is taken before the dictionary's
    pthread_atfork([] { instance().mutex_.lock(); }, [] { instance().mutex_.unlock(); },
                   [] { instance().mutex_.unlock(); });
  }

  std::mutex mutex_;
  std::map<std::vector<std::uint32_t>, std::uint32_t> names_;
};

}  // namespace

std::uint32_t creation_name(ThreadPlaces& places, const char* what) {
  const Creation creation = creation_frames(places);
  if (creation.frames.empty() || creation.sites.back() == 0) return 0;
  if (const auto known = NameIndex::instance().find(creation.sites)) return *known;
  return NameIndex::instance().add(creation.sites, describe(places, creation, what));
}

}  // namespace unjank::record
