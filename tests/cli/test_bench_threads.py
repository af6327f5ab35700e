"""`unjank bench pingpong`, `cores`, `atomics`, `priority` as installed: what they write, what they refuse."""

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest

UNJANK = Path(sysconfig.get_path("scripts")) / "unjank"
ON_ONE_CPU = """
import os, sys
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
os.execv(sys.argv[1], sys.argv[1:])
"""
RESULTS = {
    "pingpong": {"pingpong", "bare_pingpong"},
    "cores": {"core_to_core"},
    "atomics": {"atomics"},
    "priority": {"priority_share"},
}

two_cpus = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two CPUs that it may use")


def _bench(*arguments: str, one_cpu: bool = False) -> subprocess.CompletedProcess[str]:
    narrow = [sys.executable, "-c", ON_ONE_CPU] if one_cpu else []
    command = [*narrow, str(UNJANK), "bench", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def _content(result: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert result.returncode == 0, result.stderr
    content: dict[str, Any] = json.loads(result.stdout)
    return content


@two_cpus
@pytest.mark.parametrize("name", RESULTS)
def test_json_has_the_contract(name: str) -> None:
    """Schema, machine with what went on meanwhile, and what was measured or refused."""
    content = _content(_bench(name, "--quick", "--json", "-"))
    assert (content["schema"], content["benchmark"]) == ("unjank.bench/1", name)
    assert content["machine"]["during"]["seconds"] > 0
    assert content["results"] or content["absent"]
    assert {result["name"] for result in content["results"]} <= RESULTS[name] | {"perf_pipe", "lat_ctx"}
    assert all(item["reason"] for item in content["absent"])


@two_cpus
@pytest.mark.parametrize("name", RESULTS)
def test_words_and_picture(name: str, tmp_path: Path) -> None:
    """Tables on standard output, warnings beside it, the picture in its file."""
    target = tmp_path / "figures.svg"
    result = _bench(name, "--quick", "--plot", str(target))
    if "no heat map to draw" in result.stderr:
        pytest.skip("this machine is too busy for a heat map")
    assert result.returncode == 0, result.stderr
    assert "CPUs, Python" in result.stdout
    assert "warning: counts were divided by 100" in result.stderr
    assert target.read_text().startswith("<?xml")


def test_one_cpu_measures_what_it_can() -> None:
    """Context switches, counting alone, and shares need no second CPU; what does is absent, with reason."""
    for name, lacking in (
        ("pingpong", "pingpong across"),
        ("atomics", "contention"),
        ("priority", "priority unbound"),
    ):
        content = _content(_bench(name, "--quick", "--json", "-", one_cpu=True))
        reasons = {item["name"]: item["reason"] for item in content["absent"]}
        assert "one" in reasons[lacking]
        assert content["machine"]["cpus"] == 1


def test_cores_needs_two() -> None:
    """One line, exit code 2, and the way out."""
    result = _bench("cores", "--quick", one_cpu=True)
    assert result.returncode == 2
    assert result.stderr.startswith("unjank: core-to-core latency needs two CPUs and there is only CPU ")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("pingpong", "--pair", "0"), "'0' is not a pair of CPUs; write two numbers, as --pair 0,1"),
        (("pingpong", "--pair", "0,4000"), "there is no CPU 4000; this machine has "),
        (("cores", "--cpus", ""), "is not a set of CPUs"),
        (("atomics", "--cpus", "4000"), "there is no CPU 4000; this machine has "),
        (("priority", "--cpu", "4000"), "there is no CPU 4000; this machine has "),
        (("priority", "--nices", "fast"), "'fast' is not a list of nice values; write numbers"),
        (("priority", "--seconds", "nan"), "nan is not a finite number. See"),
        (("priority", "--nices", "5"), "two nice values or more"),
        (("cores", "--plot", "figures.txt"), "the name must end in .svg, .png, .pdf"),
    ],
)
def test_wrong_input_is_one_line(arguments: tuple[str, ...], said: str) -> None:
    """Exit code 2, before anything is measured."""
    result = _bench(*arguments)
    assert result.returncode == 2
    assert said in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to give the right away")
def test_without_the_right_the_favoured_share_is_absent() -> None:
    """A process without CAP_SYS_NICE may not favour a thread: the reason says so, the rest is measured."""
    drop = ["setpriv", "--bounding-set", "-sys_nice", "--inh-caps", "-sys_nice"]
    command = [*drop, str(UNJANK), "bench", "priority", "--quick", "--json", "-"]
    content = _content(subprocess.run(command, capture_output=True, text=True, check=False))
    reasons = {item["name"]: item["reason"] for item in content["absent"]}
    assert "CAP_SYS_NICE" in reasons["priority favoured"]
    assert "equal_share_error" in content["ratios"]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Two runs of shares of a CPU; in the second, a thread's share is another by far."""
    folder = tmp_path_factory.mktemp("runs")
    first, second = folder / "first.json", folder / "second.json"
    result = _bench("priority", "--quick", "--nices", "0,19", "--json", str(first))
    assert result.returncode == 0, result.stderr
    content = json.loads(first.read_text())
    assert content["ratios"], content["absent"]
    for about in content["ratios"].values():
        about |= {key: about[key] + 10 for key in ("median", "low", "high")}
    second.write_text(json.dumps(content))
    return str(first), str(second)


def test_compare_tells_what_changed(runs: tuple[str, str]) -> None:
    """A table and a count; warnings on standard error; exit code 0 unless a threshold was given."""
    result = _bench("compare", *runs)
    assert result.returncode == 0
    assert "worse" in result.stdout
    assert "figures in both:" in result.stdout
    assert "is a quick run" in result.stderr
    same = _bench("compare", runs[0], runs[0], "--all")
    assert "worse" not in same.stdout
    assert "priority_share" in same.stdout


def test_compare_fails_above_a_threshold(runs: tuple[str, str]) -> None:
    """Exit code 1 and a line that says how many; nothing worse, nothing fails."""
    result = _bench("compare", *runs, "--fail-above", "5")
    assert result.returncode == 1
    assert "got worse by more than 5 %" in result.stderr
    assert _bench("compare", runs[0], runs[0], "--fail-above", "0").returncode == 0


def test_compare_writes_json(runs: tuple[str, str], tmp_path: Path) -> None:
    """To standard output alone, or to a file beside the table."""
    content = json.loads(_bench("compare", *runs, "--json", "-").stdout)
    assert content["schema"] == "unjank.bench-compare/1"
    target = tmp_path / "changes.json"
    assert "figures in both" in _bench("compare", *runs, "--json", str(target)).stdout
    assert json.loads(target.read_text()) == content


def test_compare_refuses_what_is_no_run(tmp_path: Path) -> None:
    """One line, exit code 2."""
    odd = tmp_path / "odd.json"
    odd.write_text("{}")
    result = _bench("compare", str(odd), str(odd))
    assert (result.returncode, result.stderr.count("\n")) == (2, 1)
    assert "is not a benchmark's JSON" in result.stderr
