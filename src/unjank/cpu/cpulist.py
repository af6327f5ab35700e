"""CPU numbers as the kernel lists them: `0-3,5` (Documentation/admin-guide/cputopology.rst)."""

import re
from collections.abc import Iterable

from unjank._errors import CpuError

_RANGE = re.compile(r"(\d+)(?:-(\d+)(?::(\d+))?)?")
_MOST_CPUS = 1 << 16  # far above the 8192 of the largest kernel build; keeps a slip from filling the memory


def parse_cpu_list(text: str) -> frozenset[int]:
    """Reads `0-3,5`, with steps as taskset has them: `0-7:2`. Blank text is the empty set.

    Raises:
        CpuError: It is not a list of CPUs.
    """
    parts = [part.strip() for part in text.strip().split(",")]
    if parts == [""]:
        return frozenset()
    return frozenset(cpu for part in parts for cpu in _parse_range(part, text))


def _parse_range(part: str, text: str) -> range:
    match = _RANGE.fullmatch(part)
    first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
    if match is None or last < first or last >= _MOST_CPUS or match[3] == "0":
        raise CpuError(f"{text.strip()!r} is not a list of CPUs; write it as 0-3,5")
    return range(first, last + 1, int(match[3] or 1))


def format_cpu_list(cpus: Iterable[int]) -> str:
    """CPU numbers as the kernel lists them: `0-3,5`."""
    runs: list[list[int]] = []
    for cpu in sorted(cpus):
        if runs and cpu == runs[-1][-1] + 1:
            runs[-1].append(cpu)
        else:
            runs.append([cpu])
    return ",".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
