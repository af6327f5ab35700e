"""The benchmarks can be run, and their helpers are right; their figures are not tested here."""

import importlib
import json
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks._report import ratio, result
from benchmarks._traces import repeat_trace

import benchmarks
from benchmarks import _machine
from unjank import TraceProcessor

_NAMES = [name for _, name, _ in pkgutil.iter_modules(benchmarks.__path__) if not name.startswith("_")]


@pytest.mark.parametrize("name", _NAMES)
def test_every_module_is_a_benchmark(name: str) -> None:
    """Each module of the folder has a `run`, as `python -m benchmarks` expects."""
    assert callable(importlib.import_module(f"benchmarks.{name}").run)


def test_unknown_name_is_answered_with_the_choice() -> None:
    """A misspelt benchmark is wrong usage, and the help lists them."""
    root = Path(benchmarks.__path__[0]).parent
    command = [sys.executable, "-m", "benchmarks", "no-such"]
    assert subprocess.run(command, cwd=root, capture_output=True, check=False).returncode == 2


def test_ratio_pairs_what_was_measured_together() -> None:
    """Repetitions are divided one by one, so noise that hits both cancels out."""
    assert ratio([2.0, 8.0, 3.0], [1.0, 4.0, 1.0]) == {"median": 2.0, "low": 2.0, "high": 3.0}
    with pytest.raises(ValueError, match="shorter"):
        ratio([1.0, 2.0], [1.0])


def test_result_keeps_every_repetition() -> None:
    """The raw values stay beside the median."""
    assert result("x", "s", [3.0, 1.0, 2.0], goal=1) == {
        "name": "x",
        "unit": "s",
        "median": 2.0,
        "values": [3.0, 1.0, 2.0],
        "goal": 1,
    }


def test_machine_facts_can_be_stored() -> None:
    """The facts are plain JSON and name what figures depend on."""
    facts = json.loads(json.dumps(_machine.facts()))
    assert {"cpu", "cpus", "kernel", "python", "gil", "load_1min", "packages"} <= facts.keys()


def test_repeated_trace_is_longer_in_time(tmp_path: Path, traces_dir: Path) -> None:
    """Three copies have three times the scheduling, spread over three times the time."""
    source = traces_dir / "android_jank_cpu_sampling.pftrace"
    target = tmp_path / "three.pftrace"
    assert repeat_trace(source, target, 3) == target.stat().st_size
    sql = "SELECT COUNT(*) AS n, MAX(ts) - MIN(ts) AS span FROM sched"
    with TraceProcessor(source) as one, TraceProcessor(target) as three:
        (short,), (long,) = one.rows(sql), three.rows(sql)
    assert isinstance(short["span"], int)
    assert isinstance(long["span"], int)
    assert isinstance(short["n"], int)
    assert isinstance(long["n"], int)
    assert long["n"] == 3 * short["n"]
    assert 2.9 < long["span"] / short["span"] < 3.1
