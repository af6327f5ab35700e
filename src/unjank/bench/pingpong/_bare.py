"""The yardstick: the same loop as a C program of its own (native/bench/bare_pingpong.c)."""

import subprocess
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from unjank import UnjankError, _bench
from unjank.bench.pingpong._run import Case

_PATIENCE_S = 120.0


@dataclass(frozen=True)
class BareRun:
    """What the program says.

    Attributes:
        cpu_ns: CPU time of both threads; None for processes.
        tenth_ns: Wall time of a tenth of the rounds, the median of all ten.
    """

    cpu_ns: int | None
    tenth_ns: float


def run_bare(case: Case, rounds: int) -> BareRun:
    """Runs it through pipes.

    Raises:
        UnjankError: It is not installed, or failed.
    """
    program = Path(_bench.__file__).with_name("bare_pingpong")
    where = case.placement
    command = [str(program), case.parties, str(where.first), str(where.second), str(rounds)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=_PATIENCE_S)
    except OSError as error:
        raise UnjankError(f"cannot run {program}: {error.strerror}; reinstall unjank") from error
    except subprocess.SubprocessError as error:
        said = (getattr(error, "stderr", None) or str(error)).strip()
        raise UnjankError(f"the C program to compare with failed: {said}") from error
    return read_bare(done.stdout)


def read_bare(text: str) -> BareRun:
    """Reads its line: CPU time or -1, then each tenth's wall time."""
    cpu, *tenths = map(int, text.split())
    return BareRun(cpu if cpu >= 0 else None, median(tenths))
