// Where whole trace packets go. Whoever makes packets knows no more of the file than this.
#pragma once

#include <cstddef>
#include <span>

namespace unjank {

class PacketSink {
 public:
  virtual ~PacketSink() = default;

  // Takes one or more whole `Trace.packet` fields (tag, length, TracePacket). All of them or, with
  // false, none: the disk is full, the file is gone. Called from one thread at a time per sink.
  virtual bool append(std::span<const std::byte> whole_packets) = 0;
};

}  // namespace unjank
