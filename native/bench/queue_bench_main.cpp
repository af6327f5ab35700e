// queue_bench [repetitions=5] > results.json
//
// Runs the native comparisons and prints one JSON object: `results`, one per measurement, and `ratios`, each the
// median, lowest and highest of pairs measured one after the other. Machine facts are the caller's to add.
#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <string>

#include "bench/heap_bench.h"
#include "bench/queue_bench.h"

namespace unjank::bench {

namespace {

double quantile(std::vector<std::int64_t> values, double q) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(q * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return static_cast<double>(*at);
}

// Collects measurements and ratios, and prints them.
class Report {
 public:
  explicit Report(int repetitions) : repetitions_(repetitions) {}

  void result(const std::string& name, const std::string& facts, double ns) {
    char line[512];
    std::snprintf(line, sizeof line, "    {\"name\": \"%s\", %s, \"ns\": %.1f}", name.c_str(), facts.c_str(), ns);
    results_.push_back(line);
  }

  // `pair` measures both sides and returns how many times as long the slow one took.
  void ratio(const std::string& name, const std::function<double()>& pair) {
    std::vector<double> ratios;
    for (int i = 0; i < repetitions_; ++i) ratios.push_back(pair());
    std::sort(ratios.begin(), ratios.end());
    char line[256];
    std::snprintf(line, sizeof line, "    \"%s\": {\"median\": %.3f, \"low\": %.3f, \"high\": %.3f}", name.c_str(),
                  ratios[ratios.size() / 2], ratios.front(), ratios.back());
    ratios_.push_back(line);
    std::fprintf(stderr, "%s\n", line);
  }

  void print() const {
    std::printf("{\n  \"schema\": \"unjank.bench.native-queue/1\",\n  \"results\": [\n");
    print_lines(results_);
    std::printf("  ],\n  \"ratios\": {\n");
    print_lines(ratios_);
    std::printf("  }\n}\n");
  }

 private:
  static void print_lines(const std::vector<std::string>& lines) {
    for (const std::string& line : lines) std::printf("%s%s\n", line.c_str(), &line == &lines.back() ? "" : ",");
  }

  int repetitions_;
  std::vector<std::string> results_;
  std::vector<std::string> ratios_;
};

std::string quoted(std::string_view text) { return "\"" + std::string(text) + "\""; }

double insert(Report& report, QueueKind queue, unsigned producers, std::size_t backlog, DuePattern pattern) {
  // A sorted list takes milliseconds per post: few are enough.
  const bool walks = queue == QueueKind::kLegacy && pattern != DuePattern::kEqual;
  const double ns = insert_ns({queue, producers, backlog, walks ? std::size_t{25} : std::size_t{100'000}, pattern});
  report.result("insert",
                "\"queue\": " + quoted(name_of(queue)) + ", \"producers\": " + std::to_string(producers) +
                    ", \"backlog\": " + std::to_string(backlog) + ", \"pattern\": " + quoted(name_of(pattern)),
                ns);
  return ns;
}

void compare_insertion(Report& report) {
  report.ratio("deliqueue_vs_legacy_insert", [&] {
    const double ours = insert(report, QueueKind::kDeliqueue, 4, 100'000, DuePattern::kRandom);
    return insert(report, QueueKind::kLegacy, 4, 100'000, DuePattern::kRandom) / ours;
  });
  report.ratio("insert_backlog_1e6_vs_1e3", [&] {
    const double small = insert(report, QueueKind::kDeliqueue, 4, 1'000, DuePattern::kRandom);
    return insert(report, QueueKind::kDeliqueue, 4, 1'000'000, DuePattern::kRandom) / small;
  });
}

double dispatch(Report& report, std::size_t backlog) {
  const double ns = dispatch_ns({QueueKind::kDeliqueue, backlog, 50'000});
  report.result("dispatch", "\"queue\": \"deliqueue\", \"backlog\": " + std::to_string(backlog), ns);
  return ns;
}

double remove(Report& report, QueueKind queue, bool by_handle) {
  const double ns = remove_ns({queue, 10'000, queue == QueueKind::kLegacy || !by_handle ? 2'000u : 100'000u, by_handle});
  report.result("remove", "\"queue\": " + quoted(name_of(queue)) + ", \"backlog\": 10000, \"by\": " +
                              quoted(by_handle ? "handle" : "criteria"), ns);
  return ns;
}

void compare_looper_side(Report& report) {
  report.ratio("dispatch_backlog_1e6_vs_1e3", [&] {
    const double small = dispatch(report, 1'000);
    return dispatch(report, 1'000'000) / small;
  });
  report.ratio("legacy_vs_deliqueue_remove", [&] {
    const double ours = remove(report, QueueKind::kDeliqueue, false);
    return remove(report, QueueKind::kLegacy, false) / ours;
  });
  report.ratio("legacy_vs_deliqueue_cancel", [&] {
    const double ours = remove(report, QueueKind::kDeliqueue, true);
    return remove(report, QueueKind::kLegacy, true) / ours;
  });
}

double round_trip(Report& report, const char* of, const std::vector<std::int64_t>& took) {
  for (const double q : {0.5, 0.99, 0.999}) {
    char facts[96];
    std::snprintf(facts, sizeof facts, "\"of\": \"%s\", \"quantile\": %g", of, q);
    report.result("round_trip", facts, quantile(took, q));
  }
  return quantile(took, 0.5);
}

void compare_wake_up(Report& report, const char* ratio, Placement placement) {
  constexpr std::size_t kRounds = 5'000;
  report.ratio(ratio, [&] {
    const double bare = round_trip(report, "eventfd", eventfd_round_trips(kRounds, placement));
    return round_trip(report, "deliqueue", looper_round_trips(QueueKind::kDeliqueue, kRounds, placement)) / bare;
  });
}

HeapTimes heap(Report& report, const HeapCase& what) {
  const HeapTimes times = heap_times(what);
  const std::string facts = std::string("\"comparator\": ") +
                            (what.comparator == Comparator::kBranchless ? "\"branchless\"" : "\"branchy\"") +
                            ", \"size\": " + std::to_string(what.size) +
                            ", \"few_due_times\": " + (what.few_due_times ? "true" : "false");
  report.result("heap_hold", facts, times.hold_ns);
  report.result("heap_drain", facts, times.drain_ns);
  return times;
}

void compare_heaps(Report& report, std::size_t size, bool few_due_times) {
  const std::string suffix = "_" + std::to_string(size) + (few_due_times ? "_few_due_times" : "");
  const auto pair = [&, size, few_due_times] {
    return std::pair(heap(report, {Comparator::kBranchless, size, few_due_times}),
                     heap(report, {Comparator::kBranchy, size, few_due_times}));
  };
  report.ratio("heap_hold_branchy_vs_branchless" + suffix, [&] {
    const auto [ours, branchy] = pair();
    return branchy.hold_ns / ours.hold_ns;
  });
  report.ratio("heap_drain_branchy_vs_branchless" + suffix, [&] {
    const auto [ours, branchy] = pair();
    return branchy.drain_ns / ours.drain_ns;
  });
}

}  // namespace

}  // namespace unjank::bench

int main(int argc, char** argv) try {
  using namespace unjank::bench;
  Report report(argc > 1 ? std::max(1, std::atoi(argv[1])) : 5);
  compare_insertion(report);
  compare_looper_side(report);
  const int here = sched_getcpu();
  compare_wake_up(report, "wake_vs_eventfd_one_cpu", {here, here});
  compare_wake_up(report, "wake_vs_eventfd", {});
  for (const std::size_t size : {1'000u, 10'000u, 100'000u}) compare_heaps(report, size, false);
  compare_heaps(report, 10'000, true);
  report.print();
} catch (const std::exception& error) {
  std::fprintf(stderr, "queue_bench: %s\n", error.what());
  return 2;
}
