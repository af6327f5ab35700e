// queue_stress [operations=200000] [queue=deliqueue|legacy|both] [seconds=0]
//
// Runs rounds of mixed operations until both `operations` and `seconds` are reached. Run it under TSan and ASan:
//   cmake -S native -B build/native-thread -DUNJANK_NATIVE_TESTS=ON -DUNJANK_SANITIZE=thread
// A lost wake-up hangs; anything else that is wrong aborts with one line.
#include <cstring>
#include <string>

#include "deliqueue/queue.h"
#include "legacy/queue.h"
#include "tests/deliqueue/stress.h"

namespace unjank::testing {

namespace {

struct Options {
  std::size_t operations = 200'000;
  std::string queue = "both";
  std::int64_t seconds = 0;
};

template <class Q>
void stress(const char* name, const Options& options) {
  const MonotonicClock clock;
  const std::int64_t end = clock.now_ns() + options.seconds * 1'000'000'000;
  std::size_t done = 0;
  unsigned rounds = 0;
  while (done < options.operations || clock.now_ns() < end) {
    done += stress_round<Q>(rounds++, 2'500);
  }
  std::printf("%s: %zu operations in %u rounds, every message accounted for\n", name, done, rounds);
}

}  // namespace

}  // namespace unjank::testing

int main(int argc, char** argv) {
  using namespace unjank;
  testing::Options options;
  if (argc > 1) options.operations = std::strtoull(argv[1], nullptr, 10);
  if (argc > 2) options.queue = argv[2];
  if (argc > 3) options.seconds = std::strtoll(argv[3], nullptr, 10);
  if (options.queue != "legacy") testing::stress<deliqueue::MessageQueue>("deliqueue", options);
  if (options.queue != "deliqueue") testing::stress<legacy::Queue>("legacy", options);
}
