#include "ftrace/reader.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>

#include "base/signals_blocked.h"

#include "ftrace/boot_time.h"

namespace unjank::ftrace {
namespace {

// A batch encodes to about as much again. On machines with many CPUs each gets a smaller one.
constexpr std::size_t kBatchBytes = 256 * 1024;
constexpr std::size_t kAllBatchesBytes = 8 * 1024 * 1024;
// Kernels that say "readable" from the first event on, rather than at `buffer_percent`, don't make us spin.
constexpr int kShortestPauseMs = 10;

std::string failure(const std::string& path) { return path + ": " + std::strerror(errno); }

template <class Layout>
std::optional<Layout> read_layout(const std::string& path, std::optional<Layout> (*parse)(std::string_view),
                                  std::string& error) {
  const auto text = read_text(path);
  if (!text) {
    error = failure(path);
    return std::nullopt;
  }
  auto layout = parse(*text);
  if (!layout) error = path + ": this kernel's format is not understood";
  return layout;
}

bool add_event(const std::string& events, const KnownEvent& known, Formats& formats, std::string& error) {
  const std::string path = events + std::string(known.group) + '/' + std::string(known.name) + "/format";
  const auto format = read_layout(path, parse_event_format, error);
  if (format && formats.encoder.add(*format)) {
    formats.sched.learn(*format);
    return true;
  }
  if (format) error = path + ": lacks a field that is needed";
  return !known.required;
}

std::unique_ptr<Formats> read_formats(const std::string& tracefs, std::string& error) {
  const std::string events = tracefs + "/events/";
  auto formats = std::make_unique<Formats>();
  const auto page = read_layout(events + "header_page", parse_page_layout, error);
  const auto record = page ? read_layout(events + "header_event", parse_record_layout, error) : std::nullopt;
  if (!record) return nullptr;
  formats->page = *page;
  formats->record = *record;
  for (const KnownEvent& known : known_events())
    if (!add_event(events, known, *formats, error)) return nullptr;
  return formats;
}

std::vector<unsigned> list_cpus(const std::string& instance) {
  std::vector<unsigned> cpus;
  std::error_code error;
  for (std::filesystem::directory_iterator it(instance + "/per_cpu", error), end; !error && it != end;
       it.increment(error)) {
    const std::string name = it->path().filename().native();
    unsigned cpu = 0;
    if (name.starts_with("cpu") &&
        std::from_chars(name.data() + 3, name.data() + name.size(), cpu).ptr == name.data() + name.size())
      cpus.push_back(cpu);
  }
  std::ranges::sort(cpus);
  return cpus;
}

std::vector<CpuBuffer> open_buffers(const std::string& instance, std::string& error) {
  std::vector<CpuBuffer> buffers;
  for (const unsigned cpu : list_cpus(instance)) {
    auto buffer = CpuBuffer::open(instance, cpu);
    if (!buffer) {
      error = failure(instance + "/per_cpu/cpu" + std::to_string(cpu) + "/trace_pipe_raw");
      return {};
    }
    buffers.push_back(*std::move(buffer));
  }
  if (buffers.empty()) error = instance + "/per_cpu: no CPU's buffer is there";
  return buffers;
}

// A read hands out one sub-buffer; since 6.8 their size can be set.
std::size_t sub_buffer_size(const std::string& instance, const PageLayout& layout) {
  std::size_t kib = 0;
  if (const auto text = read_text(instance + "/buffer_subbuf_size_kb"))
    std::from_chars(text->data(), text->data() + text->size(), kib);
  return std::max(layout.page_size(), kib * 1024);
}

}  // namespace

std::unique_ptr<FtraceReader> FtraceReader::open(ReaderOptions options, std::unique_ptr<PacketSink> sink,
                                                 std::string& error) {
  auto formats = read_formats(options.tracefs, error);
  if (!formats) return nullptr;
  auto buffers = open_buffers(options.instance, error);
  if (buffers.empty()) return nullptr;
  OwnFd stop_event(::eventfd(0, EFD_CLOEXEC));
  if (!stop_event) {
    error = failure("eventfd");
    return nullptr;
  }
  const std::size_t page_size = sub_buffer_size(options.instance, formats->page);
  return std::unique_ptr<FtraceReader>(new FtraceReader(std::move(options), std::move(sink), std::move(formats),
                                                        std::move(buffers), std::move(stop_event), page_size));
}

FtraceReader::FtraceReader(ReaderOptions options, std::unique_ptr<PacketSink> sink, std::unique_ptr<Formats> formats,
                           std::vector<CpuBuffer> buffers, OwnFd stop_event, std::size_t page_size)
    : options_(std::move(options)),
      sink_(std::move(sink)),
      formats_(std::move(formats)),
      stop_event_(std::move(stop_event)),
      processes_(options_.proc, options_.sequence_id) {
  const std::uint64_t now = boot_time_ns();
  const std::size_t pages = std::min(kBatchBytes, kAllBatchesBytes / buffers.size()) / page_size;
  for (CpuBuffer& buffer : buffers) {
    const unsigned cpu = buffer.cpu();
    lanes_.push_back({std::move(buffer), BundleEncoder(*formats_, cpu, options_.sequence_id, now),
                      PageBatch(std::max<std::size_t>(1, pages), page_size)});
  }
}

FtraceReader::~FtraceReader() { stop(); }

void FtraceReader::start() {
  // Here, before the first event: on a busy machine the thread may get a CPU much later.
  opened_ns_ = boot_time_ns();
  opening_stats_ = read_stats();
  const SignalsBlocked blocked;
  thread_ = std::make_unique<std::thread>([this] {
    ::pthread_setname_np(::pthread_self(), "unjank ftrace");
    run();
  });
}

Report FtraceReader::stop() {
  if (thread_) {
    ::eventfd_write(stop_event_.get(), 1);
    thread_->join();
    thread_.reset();
  }
  lanes_.clear();
  return report_;
}

void FtraceReader::abandon_in_child() {
  lanes_.clear();
  // Neither joined nor detached: there is no such thread to do that to.
  static_cast<void>(thread_.release());
}

void FtraceReader::run() {
  write_opening();
  while (wait() && !report_.sink_failed) drain();
  if (!report_.sink_failed) drain();
  write_closing();
}

// Until a ring is part full or the interval is over; false once it is time to stop.
bool FtraceReader::wait() {
  pollfd stop{stop_event_.get(), POLLIN, 0};
  if (::poll(&stop, 1, kShortestPauseMs) > 0) return false;
  std::vector<pollfd> waited{stop};
  for (const Lane& lane : lanes_) waited.push_back({lane.buffer.fd(), POLLIN, 0});
  ::poll(waited.data(), waited.size(), options_.interval_ms);
  return waited[0].revents == 0;
}

// Round after round, a batch from each CPU, so that a busy one does not keep the others waiting.
void FtraceReader::drain() {
  while (!report_.sink_failed && drain_round()) {
  }
}

// First all reads and all wake-ups, then the encoding: a thread may be woken on another CPU than it then runs on.
bool FtraceReader::drain_round() {
  bool more = false;
  wakings_.begin_round();
  for (Lane& lane : lanes_) {
    lane.batch.clear();
    more |= lane.buffer.read(lane.batch);
    note_wakings(lane.batch, *formats_, wakings_);
  }
  wakings_.end_round();
  for (Lane& lane : lanes_) {
    if (lane.batch.empty()) continue;
    lane.encoder.encode(lane.batch, wakings_, out_, report_.totals);
    if (!flush()) return false;
  }
  return more;
}

bool FtraceReader::flush() {
  if (!report_.sink_failed) report_.sink_failed = !sink_->append(out_.view());
  if (!report_.sink_failed) report_.totals.bytes += out_.size();
  out_.clear();
  return !report_.sink_failed;
}

void FtraceReader::write_opening() {
  write_system_info(options_.sequence_id, opened_ns_, out_);
  write_ftrace_stats(StatsPhase::kStart, opening_stats_, options_.sequence_id, opened_ns_, out_);
  if (flush()) write_processes();
}

void FtraceReader::write_closing() {
  const std::uint64_t now = boot_time_ns();
  const auto stats = read_stats();
  for (const NumberedCpuStats& cpu : stats) report_.totals.lost_events += cpu.stats.lost();
  for (const Lane& lane : lanes_) report_.totals.missing_switches += lane.encoder.missing_switches();
  write_ftrace_stats(StatsPhase::kEnd, stats, options_.sequence_id, now, out_);
  if (flush()) write_processes();
}

void FtraceReader::write_processes() {
  report_.sink_failed = !processes_.write(out_, *sink_, report_.totals.bytes);
  out_.clear();
}

std::vector<NumberedCpuStats> FtraceReader::read_stats() const {
  std::vector<NumberedCpuStats> stats;
  for (const Lane& lane : lanes_) {
    const unsigned cpu = lane.buffer.cpu();
    const auto text = read_text(options_.instance + "/per_cpu/cpu" + std::to_string(cpu) + "/stats");
    if (text) stats.push_back({cpu, parse_cpu_stats(*text)});
  }
  return stats;
}

}  // namespace unjank::ftrace
