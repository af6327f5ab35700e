"""How much of this machine there is to share: CPUs and memory, as the container allows."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_MIB = 1 << 20
# A worker's own share, beside the trace: the interpreter, the engine's code, rows on their way.
WORKER_OVERHEAD_BYTES = 160 * _MIB
_SMALLEST_SHARE_BYTES = 512 * _MIB  # below this another worker would only make traces fail
_LARGEST_SHARE_BYTES = 16 << 30  # what the engine can address
_USED_SHARE = 0.8  # of the free memory


@dataclass(frozen=True)
class Machine:
    """CPUs and bytes of memory to be used."""

    cpus: int
    memory_bytes: int

    def default_workers(self) -> int:
        """As many as there are CPUs, if each has memory enough."""
        fitting = int(self.memory_bytes * _USED_SHARE) // _SMALLEST_SHARE_BYTES
        return max(1, min(self.cpus, fitting))

    def share_of(self, workers: int) -> int:
        """Bytes that the engine of each of so many workers may use."""
        share = int(self.memory_bytes * _USED_SHARE) // workers - WORKER_OVERHEAD_BYTES
        return min(max(share, _SMALLEST_SHARE_BYTES), _LARGEST_SHARE_BYTES)


def this_machine(root: Path = Path("/")) -> Machine:
    """What this process may use of the machine; `root` is where /proc and /sys are, for tests."""
    return Machine(_cpus(root), min(_memory_limits(root)))


def _cpus(root: Path) -> int:
    allowed = len(os.sched_getaffinity(0))
    quota, _, period = (_text(root / "sys/fs/cgroup/cpu.max") or "max").partition(" ")
    if quota == "max":
        return allowed
    return max(1, min(allowed, int(quota) // int(period or 100_000)))


def _memory_limits(root: Path) -> Iterator[int]:
    for line in (_text(root / "proc/meminfo") or "").splitlines():
        if line.startswith("MemAvailable:"):
            yield int(line.split()[1]) << 10
    yield os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limit = _text(root / "sys/fs/cgroup/memory.max") or "max"
    if limit != "max":
        yield max(0, int(limit) - int(_text(root / "sys/fs/cgroup/memory.current") or 0))


def _text(path: Path) -> str | None:
    try:
        return path.read_text().strip()
    except OSError:
        return None
