// Turns the kernel's binary records into Perfetto's FtraceEvent messages.
//
// Which fields go where is one table (event_encoder.cpp); where they lie comes from the running kernel's own
// formats. A kernel that lacks one of an event's optional fields still gives the rest.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/proto_writer.h"
#include "ftrace/format.h"
#include "ftrace/page.h"

namespace unjank::ftrace {

// An event this reader knows, as tracefs names it: events/GROUP/NAME.
struct KnownEvent {
  std::string_view group;
  std::string_view name;
  bool required;  // without it there is no scheduling to see
};

std::span<const KnownEvent> known_events();

class EventEncoder {
 public:
  // Learns one event's layout. False where the event is not a known one, or a field that it cannot do without
  // is missing.
  bool add(const EventFormat& format);

  bool empty() const { return events_.empty(); }

  enum class Result { kEncoded, kUnknownEvent, kTooShort };

  // Appends the record as `field` of the message that is open.
  Result encode(const Record& record, std::uint32_t field, ProtoWriter& out) const;

 private:
  struct EncodedField {
    FieldLayout layout;
    std::uint32_t number;
    bool is_text;
  };
  struct EncodedEvent {
    std::uint16_t id;
    std::uint32_t number;
    std::size_t min_size;
    std::vector<EncodedField> fields;
  };

  const EncodedEvent* find(std::uint16_t id) const;
  void encode_field(const EncodedField& field, Bytes payload, ProtoWriter& out) const;

  // The same in each event; taken from the first format.
  FieldLayout type_, pid_;
  std::vector<EncodedEvent> events_;
};

}  // namespace unjank::ftrace
