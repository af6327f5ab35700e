// Ping-pong: two threads or two processes pass a token to and fro, each asleep until it comes.
//
// What that costs depends on where the two run: on one CPU each hand-over is a context switch; on two it is a wake-up
// across cores, and no CPU switches from one side to the other. So each run brings the kernel's own counters of
// both sides, which tell what was measured; judging them is the caller's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "bench/counters.h"
#include "bench/placement.h"

namespace unjank::bench {

enum class Medium { kPipe, kEventFd, kFutex };
enum class Parties { kThreads, kProcesses };

struct PingPongCase {
  Medium medium = Medium::kPipe;
  Parties parties = Parties::kThreads;
  Placement placement;
  std::size_t rounds = 10'000;  // timed ones; a round is one token there and back
  std::size_t warm_up = 200;    // rounds before these, not timed and not counted
};

struct PingPong {
  std::int64_t wall_ns = 0;
  std::vector<std::int64_t> round_ns;  // each round
  std::size_t rounds_apart = 0;        // rounds at whose end the sides were on different CPUs
  Side caller;
  Side echo;
};

// Throws std::system_error where a CPU is not allowed, no descriptors or processes are left, or a side died.
PingPong ping_pong(const PingPongCase& what);

std::string_view name_of(Medium medium);
std::string_view name_of(Parties parties);

}  // namespace unjank::bench
