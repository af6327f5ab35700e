// The thread that moves scheduling events from the kernel's ring buffers into the trace file while a
// program is recorded.
//
//   auto reader = FtraceReader::open(options, std::move(sink), error);   // nothing runs yet
//   reader->start();                                                     // then: tracing_on = 1
//   ...                                                                  // then: tracing_on = 0
//   const Report report = reader->stop();                                // drains what is left
//
// The tracefs instance belongs to the caller, who has set clock, events and ring size; this class only reads.
// Memory: a batch of pages per CPU and the encoded form of one, whatever rate and duration. Nothing here holds a lock that
// the recorded program could want.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/packet_sink.h"
#include "ftrace/cpu_buffer.h"
#include "ftrace/process_tree.h"
#include "ftrace/system_packets.h"

namespace unjank::ftrace {

struct ReaderOptions {
  std::string tracefs;   // mount point, for the formats
  std::string instance;  // folder of the own instance
  std::string proc;      // usually /proc
  std::uint32_t sequence_id = 0;
  int interval_ms = 0;  // at the latest after this time the rings are read, however little they hold
};

struct Report {
  Totals totals;
  bool sink_failed = false;  // the file took no more; later events are missing
};

class FtraceReader {
 public:
  // Null, and one line of cause in `error`, where formats or buffers cannot be read.
  static std::unique_ptr<FtraceReader> open(ReaderOptions options, std::unique_ptr<PacketSink> sink,
                                            std::string& error);
  ~FtraceReader();

  void start();

  // Ends the thread after a last drain and closes the rings. A second call answers the same.
  Report stop();

  // After fork, in the child: gives up the inherited descriptors, which would keep the instance alive, and the
  // thread, which does not exist there.
  void abandon_in_child();

 private:
  struct Lane {
    CpuBuffer buffer;
    BundleEncoder encoder;
    PageBatch batch;
  };

  FtraceReader(ReaderOptions options, std::unique_ptr<PacketSink> sink, std::unique_ptr<Formats> formats,
               std::vector<CpuBuffer> buffers, OwnFd stop_event, std::size_t page_size);

  void run();
  bool wait();
  void drain();
  bool drain_round();
  bool flush();
  void write_opening();
  void write_closing();
  void write_processes();
  std::vector<NumberedCpuStats> read_stats() const;

  const ReaderOptions options_;
  const std::unique_ptr<PacketSink> sink_;
  const std::unique_ptr<Formats> formats_;
  OwnFd stop_event_;
  std::vector<Lane> lanes_;
  WakingLog wakings_;
  ProtoWriter out_;
  ProcessTreeWriter processes_;
  std::vector<NumberedCpuStats> opening_stats_;
  std::uint64_t opened_ns_ = 0;
  Report report_;  // the thread's until it is joined
  std::unique_ptr<std::thread> thread_;
};

}  // namespace unjank::ftrace
