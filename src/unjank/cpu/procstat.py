"""The kernel's accounts of a thread, below `/proc/PID/task/TID`: `stat`, `schedstat`, `sched`, `status`."""

from dataclasses import dataclass

from unjank._errors import CpuError

FIRST_FIELD = 3
"""The number of the field that follows the name."""
_LAST_FIELD = 41


@dataclass(frozen=True, slots=True)
class ThreadStat:
    """What `/proc/PID/task/TID/stat` says, as far as it is needed here (proc_pid_stat(5)).

    Attributes:
        tid: Field 1.
        name: Field 2 without its brackets; may hold spaces, brackets, anything.
        state: Field 3: R, S, D, T, Z …
        flags: Field 9: the kernel's PF_… flags.
        cpu_ticks: Fields 14 and 15, user and system time in clock ticks.
        nice: Field 19.
        start_ticks: Field 22: when it started; with the id it names a thread for good.
        last_cpu: Field 39: the CPU it runs on, or ran on last.
        realtime_priority: Field 40: 1 to 99, or 0.
        policy: Field 41: SCHED_… number.
    """

    tid: int
    name: str
    state: str
    flags: int
    cpu_ticks: int
    nice: int
    start_ticks: int
    last_cpu: int
    realtime_priority: int
    policy: int


def split_stat(text: bytes) -> tuple[str, list[bytes]]:
    """The name, and the fields from field 3 on. The name ends at the last closing bracket: it may hold some.

    Raises:
        CpuError: It is not such a line.
    """
    opening, closing = text.find(b"("), text.rfind(b")")
    fields = text[closing + 2 :].split()
    if opening < 1 or closing < opening or len(fields) < _LAST_FIELD - FIRST_FIELD + 1:
        raise CpuError(f"not a line of /proc/PID/stat: {text[:80]!r}")
    return text[opening + 1 : closing].decode(errors="replace"), fields


def parse_stat(text: bytes) -> ThreadStat:
    """Reads the line.

    Raises:
        CpuError: It is not such a line.
    """
    name, fields = split_stat(text)
    return ThreadStat(
        tid=int(text[: text.find(b"(")]),
        name=name,
        state=fields[0].decode(),
        flags=int(fields[9 - FIRST_FIELD]),
        cpu_ticks=int(fields[14 - FIRST_FIELD]) + int(fields[15 - FIRST_FIELD]),
        nice=int(fields[19 - FIRST_FIELD]),
        start_ticks=int(fields[22 - FIRST_FIELD]),
        last_cpu=int(fields[39 - FIRST_FIELD]),
        realtime_priority=int(fields[40 - FIRST_FIELD]),
        policy=int(fields[41 - FIRST_FIELD]),
    )


def parse_schedstat(text: bytes) -> tuple[int, int] | None:
    """Time on a CPU and time on a run queue, ns since the thread's birth; None where it is not such a line.

    Format: Documentation/scheduler/sched-stats.rst.
    """
    words = text.split(None, 2)
    return (int(words[0]), int(words[1])) if len(words) >= 2 and words[0].isdigit() else None


@dataclass(frozen=True, slots=True)
class Switches:
    """How often a thread left its CPU, since its birth; `migrations` is None if the kernel does not tell."""

    voluntary: int
    involuntary: int
    migrations: int | None


def parse_sched(text: bytes) -> Switches | None:
    """Reads `/proc/PID/task/TID/sched`, which kernels with CONFIG_SCHED_DEBUG have; None for another text."""
    voluntary = _after(text, b"\nnr_voluntary_switches")
    involuntary = _after(text, b"\nnr_involuntary_switches")
    if voluntary is None or involuntary is None:
        return None
    return Switches(voluntary, involuntary, _after(text, b"\nse.nr_migrations"))


def parse_status_switches(text: bytes) -> Switches | None:
    """Reads the two counters of `/proc/PID/task/TID/status`; None where they are not there."""
    voluntary = _after(text, b"\nvoluntary_ctxt_switches")
    involuntary = _after(text, b"\nnonvoluntary_ctxt_switches")
    if voluntary is None or involuntary is None:
        return None
    return Switches(voluntary, involuntary, None)


def status_field(text: str, name: str) -> str | None:
    """The value of `name:` in a `status` file (proc_pid_status(5))."""
    for line in text.splitlines():
        key, _, value = line.partition(":")
        if key == name:
            return value.strip()
    return None


def _after(text: bytes, key: bytes) -> int | None:
    """The number after `key … :` on its line."""
    at = text.find(key)
    if at < 0:
        return None
    colon = text.find(b":", at)
    end = text.find(b"\n", colon)
    return int(text[colon + 1 : end if end > 0 else len(text)])
