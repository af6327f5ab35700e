"""What a watch sees between two looks at a made-up `/proc` and `/sys`."""

import os
from pathlib import Path
from typing import Any

import pytest

from unjank.bench import Watch, machine_warnings
from unjank.bench._watch import watch_warnings

QUIET = {"load_1min": 0.0, "cpus": 4, "governor": None, "clocksource": "tsc", "virtual": False}


def _write_stat(root: Path, *, busy: int, stolen: int) -> None:
    (root / "proc").mkdir(exist_ok=True)
    (root / "proc/stat").write_text(f"cpu  {busy} 0 0 9999 0 0 0 {stolen} 0 0\ncpu0 0 0 0 0\n")


def _write_process(root: Path, pid: int, name: str, ticks: int) -> None:
    (root / f"proc/{pid}").mkdir(parents=True, exist_ok=True)
    fields = ["S", *["0"] * 10, str(ticks), "0", *["0"] * 30]
    (root / f"proc/{pid}/stat").write_text(f"{pid} ({name}) {' '.join(fields)}\n")


def test_a_neighbour_is_named(tmp_path: Path) -> None:
    """The process that used the most CPU time in between, also if its name has brackets and spaces."""
    _write_stat(tmp_path, busy=0, stolen=0)
    _write_process(tmp_path, 7, "quiet", 500)
    _write_process(tmp_path, 8, "a) b (c", 0)
    watch = Watch(tmp_path, pace=lambda _: 1.0)
    _write_stat(tmp_path, busy=1_000_000, stolen=0)
    _write_process(tmp_path, 8, "a) b (c", 400)
    facts = watch.facts()
    assert facts["neighbour"] == "'a) b (c' (process 8)"
    assert facts["others_cpus"] > 1
    (warning,) = watch_warnings(facts)
    assert warning.startswith("noisy neighbour: ")
    assert "most of all 'a) b (c' (process 8); stop" in warning


def test_own_time_is_no_neighbour(tmp_path: Path) -> None:
    """What this process spent is taken off, and its own line in /proc is left out."""
    _write_stat(tmp_path, busy=5, stolen=0)
    _write_process(tmp_path, os.getpid(), "python", 0)
    watch = Watch(tmp_path, pace=lambda _: 1.0)
    _write_process(tmp_path, os.getpid(), "python", 1_000)
    facts = watch.facts()
    assert facts["others_cpus"] == 0.0
    assert facts["neighbour"] is None


def test_looking_takes_no_time_from_between(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counters and clock are read at once: others' CPU time is never shared out over less than its time."""
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    monkeypatch.setattr(os, "times", lambda: os.times_result((0.0,) * 5))

    def slow_look(_: int) -> float:
        now[0] += 5.0
        return 1.0

    _write_stat(tmp_path, busy=1, stolen=0)
    watch = Watch(tmp_path, slow_look)
    looked = now[0] - 100.0
    now[0] += 1.0
    _write_stat(tmp_path, busy=1 + round((looked + 1.0) * os.sysconf("SC_CLK_TCK")), stolen=0)
    facts = watch.facts()
    assert facts["seconds"] == looked + 1.0
    assert facts["others_cpus"] == pytest.approx(1.0, abs=0.5)


def test_steal_is_a_cause(tmp_path: Path) -> None:
    """Time the host took is told with its share."""
    _write_stat(tmp_path, busy=1, stolen=0)
    watch = Watch(tmp_path, pace=lambda _: 1.0)
    _write_stat(tmp_path, busy=1, stolen=1_000_000)
    (steal,) = watch_warnings(watch.facts())
    assert steal.startswith("steal time: the host took ")


@pytest.mark.parametrize(("later", "change"), [(1.5, "+50%"), (0.8, "-20%")])
def test_a_clock_that_changed_is_a_cause(tmp_path: Path, later: float, change: str) -> None:
    """The same work takes longer or shorter than before on a CPU that this process may use."""
    paces = iter([1.0, later])
    cpu = min(os.sched_getaffinity(0))
    watch = Watch(tmp_path, pace=lambda number: next(paces) if number == cpu else 1.0)
    facts = watch.facts()
    assert facts["pace_cpu"] == cpu
    (frequency,) = watch_warnings(facts)
    assert frequency.startswith(f"frequency: on CPU {cpu} the same work took {change} at the end")


def test_a_bare_root_tells_nothing(tmp_path: Path) -> None:
    """Without /proc and /sys there are no facts, no warnings and no error."""
    facts = Watch(tmp_path, pace=lambda _: 1.0).facts()
    assert (facts["others_cpus"], facts["neighbour"]) == (None, None)
    assert list(watch_warnings(facts)) == []


@pytest.mark.parametrize("during", [{}, {"others_cpus": 0.05, "steal_share": 0.001, "pace_change": -0.05}])
def test_small_disturbances_are_not_worth_a_word(during: dict[str, Any]) -> None:
    """Below their thresholds there is no warning; and none without a watch."""
    assert machine_warnings(QUIET | {"during": during}) == []


def test_this_machine_can_be_watched() -> None:
    """The real files are read without error, and time went by."""
    facts = Watch().facts()
    assert facts["seconds"] > 0
    assert facts["others_cpus"] >= 0
