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

/// Follows the value of a call over the stack, instruction by instruction, until it is assigned. Instructions that
/// make or order other values are followed too, so that each lock of `a, b = Lock(), Lock()` gets its own name; one
/// that puts the value anywhere else ends the search.
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
    while (at_ + 1 < size && !found_) {
      const int op = static_cast<unsigned char>(code[at_]);
      const int argument = prefix_ | static_cast<unsigned char>(code[at_ + 1]);
      at_ += 2;
      prefix_ = op == EXTENDED_ARG ? argument << 8 : 0;
      if (op == EXTENDED_ARG || carries(op, argument) || loads(op, argument) || orders(op, argument)) continue;
      if (!stores(op, argument)) break;
    }
    return found_;
  }

 private:
  struct Value {
    bool wanted = false;
    std::string name;  // of a variable, or attributes of one
  };

  /// Instructions that leave the stack as it is.
  bool carries(int op, int argument) {
    switch (op) {
      case CACHE:
      case NOP:
#ifdef PRECALL
      case PRECALL:
#endif
#ifdef KW_NAMES
      case KW_NAMES:
#endif
        return true;
      case JUMP_FORWARD:
        at_ += 2 * argument;
        return true;
      default:
        return false;
    }
  }

  bool loads(int op, int argument) {
    switch (op) {
      case LOAD_FAST:
#ifdef LOAD_FAST_CHECK
      case LOAD_FAST_CHECK:
#endif
#ifdef LOAD_FAST_BORROW
      case LOAD_FAST_BORROW:
#endif
      case LOAD_DEREF:
        return push({false, local(argument)});
#ifdef LOAD_FAST_LOAD_FAST
      case LOAD_FAST_LOAD_FAST:
#ifdef LOAD_FAST_BORROW_LOAD_FAST_BORROW
      case LOAD_FAST_BORROW_LOAD_FAST_BORROW:
#endif
        return push({false, local(argument >> 4)}) && push({false, local(argument & 15)});
#endif
      case LOAD_NAME:
        return push({false, text_at(code_->co_names, argument)});
      case LOAD_GLOBAL:
        return push_callable({false, text_at(code_->co_names, argument >> 1)}, argument & 1);
      case PUSH_NULL:
      case LOAD_CONST:
#ifdef LOAD_SMALL_INT
      case LOAD_SMALL_INT:
#endif
        return push({});
      case LOAD_ATTR:
#if PY_VERSION_HEX < 0x030C0000
        return load_attribute(argument, false);
      case LOAD_METHOD:
        return load_attribute(argument, true);
#else
        return load_attribute(argument >> 1, argument & 1);
#endif
      default:
        return false;
    }
  }

  /// Instructions that order values, or make one of several.
  bool orders(int op, int argument) {
    const auto count = static_cast<std::size_t>(argument);
    switch (op) {
      case COPY:
        return push(from_top(count));
      case SWAP:
        std::swap(from_top(1), from_top(count));
        return true;
#ifdef BEFORE_WITH
      case BEFORE_WITH:  // what __enter__ answers is nearly always the object itself
        stack_.insert(stack_.end() - 1, Value{});
        return true;
#endif
      case CALL:
        return drop(count + 2) && push({});
#ifdef CALL_KW
      case CALL_KW:
        return drop(count + 3) && push({});
#endif
      case BUILD_TUPLE:
        return build_tuple(count);
      case UNPACK_SEQUENCE:
        return unpack(count);
      default:
        return false;
    }
  }

  bool stores(int op, int argument) {
    switch (op) {
      case STORE_ATTR: {
        const Value object = pop();
        return assign({object.name, text_at(code_->co_names, argument)}, !object.name.empty());
      }
      case STORE_FAST:
      case STORE_DEREF:
        return assign({"", local(argument)});
#ifdef STORE_FAST_STORE_FAST
      case STORE_FAST_STORE_FAST:
        return assign({"", local(argument >> 4)}) && (found_ || assign({"", local(argument & 15)}));
      case STORE_FAST_LOAD_FAST:
        return assign({"", local(argument >> 4)}) && push({false, local(argument & 15)});
#endif
      case STORE_GLOBAL:
        return assign({"", text_at(code_->co_names, argument)});
      case STORE_NAME:
        return assign({"", text_at(code_->co_names, argument), text_of(code_->co_name) != "<module>"});
      default:
        return false;
    }
  }

  bool assign(Assignment assignment, bool is_named = true) {
    if (!pop().wanted) return true;
    if (is_named) found_ = std::move(assignment);
    return is_named;
  }

  bool push(Value value) {
    stack_.push_back(std::move(value));
    return true;
  }

  /// A callable comes with a slot for the object that it is a method of.
  bool push_callable(Value value, bool with_slot) {
#if PY_VERSION_HEX >= 0x030D0000
    return push(std::move(value)) && (!with_slot || push({}));
#else
    return (!with_slot || push({})) && push(std::move(value));
#endif
  }

  bool load_attribute(int name, bool as_method) {
    Value owner = pop();
    if (owner.wanted) return false;
    if (!owner.name.empty()) owner.name += '.' + text_at(code_->co_names, name);
    return push(std::move(owner)) && (!as_method || push({}));
  }

  /// 1 is the top. What lay on the stack before is not known.
  Value& from_top(std::size_t place) {
    while (stack_.size() < place) stack_.insert(stack_.begin(), Value{});
    return *(stack_.end() - static_cast<std::ptrdiff_t>(place));
  }

  Value pop() {
    Value value = from_top(1);
    stack_.pop_back();
    return value;
  }

  /// False: the value was among them.
  bool drop(std::size_t count) {
    while (count-- > 0) {
      if (pop().wanted) return false;
    }
    return true;
  }

  bool build_tuple(std::size_t count) {
    tuple_.clear();
    for (std::size_t i = 0; i < count; ++i) tuple_.push_back(pop());
    return push({});
  }

  /// Only of the tuple that was just built; its first value ends on top.
  bool unpack(std::size_t count) {
    if (tuple_.size() != count) return false;
    pop();
    for (Value& value : tuple_) push(std::move(value));
    tuple_.clear();
    return true;
  }

  std::string local(int index) const { return text_at(code_->co_localsplusnames, index); }

  PyCodeObject* code_;
  Owned bytes_;
  int at_;
  int prefix_ = 0;
  std::vector<Value> stack_{{true, ""}};
  std::vector<Value> tuple_;  // last value first
  std::optional<Assignment> found_;
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

  /// The same for all objects made by the same instruction of the program, through the same places.
  std::vector<std::uint32_t> key() const {
    std::vector<std::uint32_t> key = sites;
    key.push_back(static_cast<std::uint32_t>(frames.back().offset));
    return key;
  }
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

/// Names that were made already, by Creation::key().
class NameIndex {
 public:
  static NameIndex& instance() {
    static NameIndex* const index = new NameIndex;
    return *index;
  }

  std::optional<std::uint32_t> find(const std::vector<std::uint32_t>& key) {
    const std::lock_guard guard(mutex_);
    const auto known = names_.find(key);
    return known == names_.end() ? std::nullopt : std::optional(known->second);
  }

  std::uint32_t add(const std::vector<std::uint32_t>& key, Name name) {
    const std::lock_guard guard(mutex_);
    const auto [entry, fresh] = names_.try_emplace(key, 0);
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
  if (const auto known = NameIndex::instance().find(creation.key())) return *known;
  return NameIndex::instance().add(creation.key(), describe(places, creation, what));
}

}  // namespace unjank::record
