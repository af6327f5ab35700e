// Counts once with every operation, layout and set of instructions this CPU has, and prints what came of it as JSON; no
// times. Shows that a cross-compiled build works, also under an emulator: cmake --build build/native --target atomics_check
#include <cstdio>
#include <exception>

#include "bench/atomics.h"

namespace unjank::bench {

namespace {

bool check(const AtomicsCase& what, bool first) {
  const Atomics measured = count_at_once(what);
  std::uint64_t operations = 0;
  for (const Tally& tally : measured.threads) operations += tally.operations;
  std::printf("%s\n  {\"instructions\": \"%s\", \"operation\": \"%s\", \"layout\": \"%s\", \"threads\": %zu, "
              "\"operations\": %llu, \"counted\": %llu}",
              first ? "" : ",", name_of(what.instructions).data(), name_of(what.operation).data(),
              name_of(what.layout).data(), measured.threads.size(), static_cast<unsigned long long>(operations),
              static_cast<unsigned long long>(measured.counted));
  return operations == measured.counted && operations > 0;
}

bool check_all() {
  bool right = true;
  bool first = true;
  for (const Instructions instructions : available_instructions()) {
    for (const Operation operation : {Operation::kLock, Operation::kCasLoop, Operation::kFetchAdd}) {
      for (const Layout layout : {Layout::kShared, Layout::kPacked, Layout::kPadded}) {
        right &= check({operation, layout, instructions, {-1, -1, -1}, 5'000'000}, first);
        first = false;
      }
    }
  }
  return right;
}

}  // namespace

}  // namespace unjank::bench

int main() try {
  std::printf("[");
  const bool right = unjank::bench::check_all();
  std::printf("\n]\n");
  return right ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "atomics_check: %s\n", error.what());
  return 2;
}
