"""`unjank bench`: what it writes, as the installed command. No claims about speed here."""

import json
import math
import subprocess
import sysconfig
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import unjank.bench.heap as heap_bench
import unjank.bench.queue as queue_bench
import unjank.bench.updaters as updaters_bench

UNJANK = Path(sysconfig.get_path("scripts")) / "unjank"

QUEUE_RATIOS = {
    "deliqueue_vs_legacy_insert",
    "post_growth",
    "dispatch_growth",
    "deliqueue_vs_legacy_cancel",
    "deliqueue_vs_legacy_remove",
    "wake_vs_eventfd",
    "wake_vs_call_soon_threadsafe",
    "post_delayed_vs_priority_queue",
    "post_delayed_vs_lock_heapq",
    "post_vs_simple_queue",
    "post_beside_timer_vs_simple_queue",
    "plain_dispatch_growth",
    "dispatch_vs_plain",
    "end_to_end_vs_simple_queue",
    "end_to_end_vs_call_soon_threadsafe",
    "schedule_cancel_vs_call_later",
    "schedule_cancel_memory_first_million",
    "schedule_cancel_memory_growth",
    "idle_cpu_share",
}


def _bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([UNJANK, "bench", *arguments], capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def queue() -> dict[str, Any]:
    """The JSON of one quick run of all of `bench queue`."""
    return _parsed(_bench("queue", "--quick", "--json", "-"))


@pytest.fixture(scope="module")
def heap() -> dict[str, Any]:
    """The JSON of one quick run of all of `bench heap`."""
    return _parsed(_bench("heap", "--quick", "--json", "-"))


def _parsed(result: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert result.returncode == 0, result.stderr
    content: dict[str, Any] = json.loads(result.stdout)
    return content


def _assert_sound(content: dict[str, Any]) -> None:
    assert content["schema"] == "unjank.bench/1"
    assert {"cpu", "cpus", "kernel", "python", "gil", "load_1min", "packages"} <= content["machine"].keys()
    assert content["results"]
    for about in content["ratios"].values():
        assert all(math.isfinite(about[key]) for key in ("median", "low", "high"))
        assert about["low"] <= about["median"] <= about["high"]
    for result in content["results"]:
        assert result["values"]
        assert all(math.isfinite(value) for value in result["values"])


def test_queue_has_every_promised_ratio(queue: dict[str, Any]) -> None:
    """All figures that unjank promises for its queue are there, finite, and in order."""
    _assert_sound(queue)
    assert queue["benchmark"] == "queue"
    assert queue["ratios"].keys() >= QUEUE_RATIOS


def test_queue_covers_producers_backlog_and_pattern(queue: dict[str, Any]) -> None:
    """Native insertion and post_delayed were measured in every combination of the three."""
    for name in ("native_insert", "post_delayed"):
        cases = {
            (result["producers"], result["backlog"], result["pattern"])
            for result in queue["results"]
            if result["name"] == name
        }
        assert len(cases) == 2 * 2 * 3, name


def test_queue_has_the_tail_of_wake_ups(queue: dict[str, Any]) -> None:
    """p50, p99 and p99.9 of each side, natively and in Python."""
    for name, sides in (
        ("native_round_trip", {"eventfd", "deliqueue", "legacy"}),
        ("wake_up", {"looper", "asyncio", "simple_queue"}),
    ):
        found = {(r["of"], r["quantile"]) for r in queue["results"] if r["name"] == name}
        assert found == {(side, q) for side in sides for q in ("p50", "p99", "p99.9")}


def test_peers_are_there_or_absent_with_a_reason(queue: dict[str, Any]) -> None:
    """The peer culsans is measured where it is installed, else named with the way to get it."""
    absent = {item["name"]: item["reason"] for item in queue["absent"]}
    for name in ("post_vs_culsans", "post_delayed_vs_culsans", "end_to_end_vs_culsans"):
        assert (name in queue["ratios"]) != (name in absent)
    assert all("pip install" in reason for reason in absent.values())


def test_heap_has_its_ratios(heap: dict[str, Any]) -> None:
    """Times at every size, and what is simulated is there or absent with a reason."""
    _assert_sound(heap)
    for size in ("1000", "10000", "100000", "10000_few_due_times"):
        assert {f"branchless_vs_branchy_{way}_{size}" for way in ("hold", "drain")} <= heap["ratios"].keys()
    absent = {item["name"] for item in heap["absent"]}
    for name in ("mispredictions_branchless_vs_branchy", "cycles_branchless_vs_branchy"):
        assert (name in heap["ratios"]) != (name in absent)


def test_one_part_alone(tmp_path: Path) -> None:
    """`--only` runs that part; the table goes to stdout, warnings to stderr, the JSON to its file."""
    target = tmp_path / "idle.json"
    result = _bench("queue", "--quick", "--only", "idle", "--json", str(target))
    assert result.returncode == 0, result.stderr
    assert json.loads(target.read_text())["ratios"].keys() == {"idle_cpu_share"}
    assert "idle_cpu_share" in result.stdout
    assert "warning: counts were divided by 100" in result.stderr


@pytest.mark.parametrize(
    ("name", "parts"),
    [("queue", queue_bench.PARTS), ("heap", heap_bench.PARTS), ("updaters", updaters_bench.PARTS)],
)
def test_help_lists_the_parts(name: str, parts: Iterable[str]) -> None:
    """Which parts `--only` takes is not to be guessed."""
    words = _bench(name, "--help").stdout.replace("│", " ").split()
    assert set(parts) <= {word.strip(",.") for word in words}


def test_unknown_part_is_answered_with_the_choice() -> None:
    """Wrong usage: one line, exit code 2."""
    result = _bench("heap", "--only", "speed")
    assert result.returncode == 2
    assert result.stderr == "unjank: there is no part speed; --only takes time, mispredictions, cycles\n"


@pytest.mark.parametrize("option", ["--json", "--plot"])
def test_folder_that_is_not_there_is_found_before_measuring(option: str, tmp_path: Path) -> None:
    """Minutes of measuring are not spent on a file that cannot be written."""
    result = _bench("queue", option, str(tmp_path / "no" / "figures.svg"))
    assert result.returncode == 2
    assert result.stderr.startswith("unjank: cannot write ")
    assert result.stderr.count("\n") == 1


def test_plot_is_written(tmp_path: Path) -> None:
    """`--plot` draws what was measured."""
    target = tmp_path / "heap.svg"
    result = _bench("heap", "--quick", "--only", "time", "--plot", str(target))
    assert result.returncode == 0, result.stderr
    assert target.read_text().startswith("<?xml")
