// Field numbers of Perfetto's trace protos that this reader writes
// (protos/perfetto/trace/{trace,trace_packet}.proto and below; numbers never change once released).
#pragma once

#include <cstdint>

namespace unjank::ftrace::proto {

using Number = std::uint32_t;

namespace trace {
inline constexpr Number kPacket = 1;
}
namespace packet {
inline constexpr Number kFtraceEvents = 1, kProcessTree = 2, kTimestamp = 8, kSequenceId = 10, kFtraceStats = 34,
                        kSystemInfo = 45;
}
namespace bundle {
inline constexpr Number kCpu = 1, kEvent = 2, kLostEvents = 3, kPreviousBundleEnd = 10;
}
namespace event {
inline constexpr Number kTimestamp = 1, kPid = 2, kSchedSwitch = 4, kSchedWaking = 20, kSchedWakeupNew = 114,
                        kTaskNewtask = 235, kTaskRename = 236, kSchedProcessExit = 238;
}
namespace sched_switch {
inline constexpr Number kPrevComm = 1, kPrevPid = 2, kPrevPrio = 3, kPrevState = 4, kNextComm = 5, kNextPid = 6,
                        kNextPrio = 7;
}
namespace sched_wakeup {  // sched_waking and sched_wakeup_new alike
inline constexpr Number kComm = 1, kPid = 2, kPrio = 3, kTargetCpu = 5;
}
namespace task_newtask {
inline constexpr Number kPid = 1, kComm = 2, kCloneFlags = 3, kOomScoreAdj = 4;
}
namespace task_rename {
inline constexpr Number kPid = 1, kOldComm = 2, kNewComm = 3, kOomScoreAdj = 4;
}
namespace sched_process_exit {
inline constexpr Number kComm = 1, kPid = 2, kPrio = 4;
}
namespace process_tree {
inline constexpr Number kProcesses = 1, kThreads = 2;
inline constexpr Number kProcessPid = 1, kProcessPpid = 2, kProcessCmdline = 3, kProcessCmdlineIsComm = 9;
inline constexpr Number kThreadTid = 1, kThreadName = 2, kThreadTgid = 3;
}  // namespace process_tree
namespace ftrace_stats {
inline constexpr Number kPhase = 1, kCpuStats = 2;
inline constexpr std::int64_t kStartOfTrace = 1, kEndOfTrace = 2;
inline constexpr Number kCpu = 1, kEntries = 2, kOverrun = 3, kCommitOverrun = 4, kBytesRead = 5, kDroppedEvents = 8,
                        kReadEvents = 9;
}  // namespace ftrace_stats
namespace system_info {
inline constexpr Number kUtsname = 1, kPageSize = 6, kNumCpus = 8;
inline constexpr Number kSysname = 1, kVersion = 2, kRelease = 3, kMachine = 4;
}  // namespace system_info

}  // namespace unjank::ftrace::proto
