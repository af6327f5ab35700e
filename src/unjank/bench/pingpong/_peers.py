"""Other programs that measure the same, where they are installed: perf's and lmbench's."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import MappingProxyType

from unjank import UnjankError

_PATIENCE_S = 120.0
_LMBENCH = Path("/usr/lib/lmbench/bin")


def perf_pipe_ns(cpu: int, rounds: int) -> float:
    """Nanoseconds per switch of `perf bench sched pipe`, two threads bound to one CPU.

    Raises:
        UnjankError: It is not installed, or failed.
    """
    program = shutil.which("perf")
    if program is None:
        raise UnjankError("perf is not installed; Debian's package linux-perf has it")
    return read_perf(_run_on(cpu, program, "bench", "sched", "pipe", "-T", "-l", str(rounds)))


def read_perf(text: str) -> float:
    """Its `usecs/op`: an operation is a token there and back, two switches."""
    return 1e3 * _number(r"([\d.]+)\s+usecs/op", text, "perf bench sched pipe") / 2


def lat_ctx_ns(cpu: int, rounds: int) -> float:  # noqa: ARG001  it calibrates itself
    """Nanoseconds per switch of lmbench's `lat_ctx`, two processes without a working set bound to one CPU.

    It takes off what the pipes cost without a switch, so its figure is the lower one.

    Raises:
        UnjankError: It is not installed, or failed.
    """
    program = shutil.which("lat_ctx") or next(map(str, _LMBENCH.glob("*/lat_ctx")), None)
    if program is None:
        raise UnjankError("lat_ctx is not installed; the package lmbench (Debian: non-free) has it")
    return read_lat_ctx(_run_on(cpu, program, "-s", "0", "2"))


def read_lat_ctx(text: str) -> float:
    """The line `2 MICROSECONDS`: for two processes."""
    return 1e3 * _number(r"^2\s+([\d.]+)", text, "lat_ctx")


PEERS: Mapping[str, Callable[[int, int], float]] = MappingProxyType(
    {"perf_pipe": perf_pipe_ns, "lat_ctx": lat_ctx_ns}
)


def installed(leave_out: Callable[[str, str], None], cpu: int) -> Iterator[str]:
    """The peers that work here; of the others the reason is told."""
    for name, measure in PEERS.items():
        try:
            measure(cpu, 100)
        except UnjankError as error:
            leave_out(f"same_core_vs_{name}", str(error))
        else:
            yield name


def _run_on(cpu: int, *command: str) -> str:
    """Output of a program bound to one CPU: it inherits the mask of a thread that ends with it."""

    def bound() -> "subprocess.CompletedProcess[str]":
        os.sched_setaffinity(0, {cpu})
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=_PATIENCE_S)

    try:
        with ThreadPoolExecutor(1) as thread:
            done = thread.submit(bound).result()
    except (OSError, subprocess.SubprocessError) as error:
        said = (getattr(error, "stderr", None) or str(error)).strip().splitlines()
        raise UnjankError(f"{Path(command[0]).name} failed: {said[-1] if said else error}") from error
    return done.stdout + done.stderr


def _number(pattern: str, text: str, program: str) -> float:
    found = re.search(pattern, text, re.MULTILINE)
    if found is None:
        raise UnjankError(f"{program} gave no figure; see what it prints when run by hand")
    return float(found[1])
