"""Mispredicted branches per heap operation, as cachegrind simulates a simple predictor."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from unjank import UnjankError, _bench
from unjank.bench._report import Report
from unjank.bench._run import Progress, Scale
from unjank.bench.heap.comparators import COMPARATORS, Comparator

_SIZE = 10_000
_OPERATIONS = 20_000
_PROGRAM = """
import importlib.machinery, importlib.util
loader = importlib.machinery.ExtensionFileLoader("_bench", {module!r})
bench = importlib.util.module_from_spec(importlib.util.spec_from_loader("_bench", loader))
loader.exec_module(bench)
bench.heap_ns({comparator!r}, size={size}, few_due_times=False, operations={operations})
"""
_VALGRIND = "valgrind"


@dataclass(frozen=True)
class Branches:
    """What cachegrind counted in one process.

    Attributes:
        instructions: Executed.
        branches: Conditional branches.
        mispredicted: Of these, those its predictor guessed wrong.
    """

    instructions: int
    branches: int
    mispredicted: int


def measure(report: Report, scale: Scale, progress: Progress) -> None:
    """`mispredictions_branchless_vs_branchy`, per operation; absent without valgrind."""
    name = "mispredictions_branchless_vs_branchy"
    if shutil.which(_VALGRIND) is None:
        report.leave_out(name, "valgrind is not installed; the package of that name has cachegrind")
        return
    progress("simulated mispredictions")
    try:
        found = {comparator: _per_operation(comparator, scale) for comparator in COMPARATORS}
    except UnjankError as error:
        report.leave_out(name, str(error))
        return
    for comparator, (instructions, branches, mispredicted) in found.items():
        facts = {"comparator": comparator, "size": scale.count(_SIZE), "tool": "cachegrind"}
        report.add("simulated_instructions", "1/operation", [instructions], **facts)
        report.add("simulated_branches", "1/operation", [branches], **facts)
        report.add("simulated_mispredictions", "1/operation", [mispredicted], **facts)
    report.compare(name, [found["branchless"][2]], [found["branchy"][2]], of="mispredictions")


def _per_operation(comparator: Comparator, scale: Scale) -> tuple[float, float, float]:
    """The difference of two runs: what the interpreter's start and the heap's filling cost is in both."""
    size, operations = scale.count(_SIZE), max(1_000, scale.count(_OPERATIONS))
    less = _simulate(comparator, size, operations)
    more = _simulate(comparator, size, 2 * operations)
    executed = 2 * operations  # as many again warm up
    return (
        (more.instructions - less.instructions) / executed,
        (more.branches - less.branches) / executed,
        (more.mispredicted - less.mispredicted) / executed,
    )


def _simulate(comparator: Comparator, size: int, operations: int) -> Branches:
    program = _PROGRAM.format(module=_bench.__file__, comparator=comparator, size=size, operations=operations)
    with tempfile.TemporaryDirectory() as folder:
        counts = Path(folder) / "counts"
        command = [
            _VALGRIND,
            "--tool=cachegrind",
            "--cache-sim=no",
            "--branch-sim=yes",
            f"--cachegrind-out-file={counts}",
            sys.executable,
            "-I",
            "-S",
            "-c",
            program,
        ]
        environment = {**os.environ, "PYTHONHASHSEED": "0"}
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        if done.returncode != 0 or not counts.exists():
            raise UnjankError(f"valgrind failed: {_cause(done)}")
        return read_counts(counts.read_text(errors="replace"))


def _cause(done: subprocess.CompletedProcess[str]) -> str:
    """The program's own last word; valgrind's lines begin with the process ID."""
    words = [line for line in done.stderr.splitlines() if line and not re.match(r"[=-]{2}\d+[=-]{2}", line)]
    return words[-1] if words else f"exit {done.returncode}"


def read_counts(text: str) -> Branches:
    """Reads the totals of a cachegrind output file: its `events:` line names what `summary:` counts.

    Raises:
        UnjankError: A line or an event is missing.
    """
    events = re.search(r"^events: (.+)$", text, re.MULTILINE)
    summary = re.search(r"^summary: (.+)$", text, re.MULTILINE)
    if events is None or summary is None:
        raise UnjankError("cachegrind's output has no totals; see whether it was written to its end")
    totals = dict(zip(events[1].split(), map(int, summary[1].split()), strict=True))
    missing = {"Ir", "Bc", "Bcm"} - totals.keys()
    if missing:
        raise UnjankError(f"cachegrind counted no {', '.join(sorted(missing))}; it needs --branch-sim=yes")
    return Branches(totals["Ir"], totals["Bc"], totals["Bcm"])
