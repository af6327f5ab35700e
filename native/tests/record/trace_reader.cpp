#include "tests/record/trace_reader.h"

#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace unjank::record::test {

namespace {

/// Takes the front off a message.
class Cursor {
 public:
  explicit Cursor(std::string_view rest) : rest_(rest) {}
  bool done() const { return rest_.empty(); }

  Field next() {
    const std::uint64_t tag = varint();
    Field field{static_cast<std::uint32_t>(tag >> 3), 0, {}};
    switch (tag & 7) {
      case 0: field.value = varint(); break;
      case 1: field.value = fixed(8); break;
      case 2: field.text = take(varint()); break;
      case 5: field.value = fixed(4); break;
      default: throw std::runtime_error("unknown wire type");
    }
    return field;
  }

 private:
  std::string_view take(std::uint64_t size) {
    if (size > rest_.size()) throw std::runtime_error("message is cut off");
    const std::string_view front = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return front;
  }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1)[0]);
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
    throw std::runtime_error("number is too long");
  }
  std::uint64_t fixed(std::size_t size) {
    std::uint64_t value = 0;
    std::memcpy(&value, take(size).data(), size);
    return value;
  }
  std::string_view rest_;
};

using Ids = std::map<std::uint64_t, std::string>;

/// What one sequence has told so far.
struct Interned {
  bool started = false;
  Ids categories, names, keys, texts;

  const std::string& of(const Ids& ids, std::uint64_t id) const {
    const auto known = ids.find(id);
    if (known == ids.end()) throw std::runtime_error("an interned id was never told: " + std::to_string(id));
    return known->second;
  }
  void learn(std::string_view data) {
    for (const Field& field : fields_of(data)) {
      Ids& ids = field.number == 1 ? categories : field.number == 2 ? names : field.number == 3 ? keys : texts;
      if (field.number > 3 && field.number != 29) throw std::runtime_error("unknown interned data");
      std::uint64_t id = 0;
      std::string text;
      for (const Field& part : fields_of(field.text)) part.number == 1 ? void(id = part.value) : void(text = part.text);
      if (!ids.emplace(id, text).second) throw std::runtime_error("an interned id was told twice");
    }
  }
};

class Reader {
 public:
  ReadTrace trace;

  void packet(std::string_view bytes) {
    ++trace.packets;
    std::map<std::uint32_t, Field> parts;
    for (const Field& field : fields_of(bytes)) parts[field.number] = field;
    sequence_ = static_cast<std::uint32_t>(parts.at(10).value);
    Interned& interned = sequences_[sequence_];
    const std::uint64_t flags = parts.contains(13) ? parts[13].value : 0;
    if (flags & 1) interned = {.started = true, .categories = {}, .names = {}, .keys = {}, .texts = {}}, ++trace.states_cleared;
    if ((flags & 2) && !interned.started) throw std::runtime_error("a packet needs a state that was never started");
    if (parts.contains(12)) interned.learn(parts[12].text);
    if (parts.contains(60)) descriptor(parts[60].text);
    if (parts.contains(11)) event(parts[11].text, static_cast<std::int64_t>(parts.at(8).value), interned);
  }

 private:
  void descriptor(std::string_view bytes) {
    std::uint64_t track = 0;
    for (const Field& field : fields_of(bytes)) {
      if (field.number == 1) track = field.value;
      if (field.number == 3) trace.processes[track] = text_in(field.text, 6);
      if (field.number == 4) trace.threads[track] = thread(field.text);
      if (field.number == 2) trace.counters[track].first = field.text;
      if (field.number == 5 && trace.counters.contains(track)) trace.counters[track].second = field.value;
    }
  }
  static std::string text_in(std::string_view bytes, std::uint32_t number) {
    for (const Field& field : fields_of(bytes)) {
      if (field.number == number) return std::string(field.text);
    }
    return "";
  }
  static ReadThread thread(std::string_view bytes) {
    ReadThread thread;
    for (const Field& field : fields_of(bytes)) {
      if (field.number == 1) thread.pid = static_cast<std::int64_t>(field.value);
      if (field.number == 2) thread.tid = static_cast<std::int64_t>(field.value);
      if (field.number == 5) thread.name = field.text;
    }
    return thread;
  }
  void event(std::string_view bytes, std::int64_t ts_ns, const Interned& interned) {
    ReadEvent event;
    event.sequence = sequence_;
    event.ts_ns = ts_ns;
    for (const Field& field : fields_of(bytes)) {
      if (field.number == 3) event.category = interned.of(interned.categories, field.value);
      if (field.number == 4) argument(field.text, interned, event);
      if (field.number == 9) event.type = static_cast<ReadEvent::Type>(field.value);
      if (field.number == 10) event.name = interned.of(interned.names, field.value);
      if (field.number == 11) event.track = field.value;
      if (field.number == 30) event.counter = static_cast<std::int64_t>(field.value);
      if (field.number == 47 || field.number == 48) event.flow = field.value, event.ends_flow = field.number == 48;
    }
    trace.events.push_back(std::move(event));
  }
  static void argument(std::string_view bytes, const Interned& interned, ReadEvent& event) {
    std::string key;
    std::string value;
    for (const Field& field : fields_of(bytes)) {
      if (field.number == 1) key = interned.of(interned.keys, field.value);
      if (field.number == 4) value = std::to_string(static_cast<std::int64_t>(field.value));
      if (field.number == 17) value = interned.of(interned.texts, field.value);
    }
    event.arguments[key] = value;
  }

  std::uint32_t sequence_ = 0;
  std::map<std::uint32_t, Interned> sequences_;
};

}  // namespace

std::vector<Field> fields_of(std::string_view message) {
  std::vector<Field> fields;
  for (Cursor cursor(message); !cursor.done();) fields.push_back(cursor.next());
  return fields;
}

std::string ReadEvent::argument(const std::string& key) const {
  const auto known = arguments.find(key);
  return known == arguments.end() ? "(absent)" : known->second;
}

std::vector<ReadEvent> ReadTrace::on(std::uint64_t track) const {
  std::vector<ReadEvent> found;
  for (const ReadEvent& event : events) {
    if (event.track == track) found.push_back(event);
  }
  return found;
}

std::vector<ReadEvent> ReadTrace::named(std::string_view name) const {
  std::vector<ReadEvent> found;
  for (const ReadEvent& event : events) {
    if (event.name == name) found.push_back(event);
  }
  return found;
}

std::uint64_t ReadTrace::track_of(std::string_view thread_name) const {
  std::uint64_t found = 0;
  for (const auto& [track, thread] : threads) {
    if (thread.name != thread_name) continue;
    if (found != 0) throw std::runtime_error("two threads of one name");
    found = track;
  }
  if (found == 0) throw std::runtime_error("no such thread: " + std::string(thread_name));
  return found;
}

ReadTrace read_trace(std::string_view bytes) {
  Reader reader;
  for (const Field& field : fields_of(bytes)) {
    if (field.number != 1) throw std::runtime_error("not a packet");
    reader.packet(field.text);
  }
  return std::move(reader.trace);
}

ReadTrace read_trace(std::span<const std::byte> bytes) {
  return read_trace(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

std::string file_content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace unjank::record::test
