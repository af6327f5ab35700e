"""What becomes of readings: figures, refusals, heat maps; on made-up machines, and on this one."""

import io
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from unjank import UnjankError, _bench
from unjank.bench import Scale, document, machine_facts
from unjank.bench.cores import Pair, Reading, _measure, draw, judge, plot, run_cores, settle, tables
from unjank.bench.cores._matrix import condensed, matrices
from unjank.cpu import Topology

from .test_pairs import server

PAIR = Pair(0, 1, "cluster", "own", 0)
NODES: dict[int, int | None] = {0: 0, 1: 0, 2: 1}
GOOD = Reading(50.0, whole=True, cpus=((0,), (1,)), migrations=0, node=0)
TIMES = {"cluster": 20.0, "node": 60.0, "machine": 200.0}


def _pretend(pair: Pair, divisor: int = 1) -> Reading:
    """A machine on which each kind of pair takes its time, and a remote page half as much again."""
    far = pair.home == "remote"
    node = 1 - pair.first // 32 if far else pair.first // 32
    cpus = ((pair.first,), (pair.second,))
    return Reading(TIMES[pair.relation] * (1.5 if far else 1), whole=True, cpus=cpus, migrations=0, node=node)


@pytest.fixture
def content(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The document of a made-up machine with 64 CPUs, in two nodes of two clusters each."""
    monkeypatch.setattr(_measure, "read", _pretend)
    report = run_cores(Scale(repeats=6), lambda _: None, topology=server(2, 32), most_pairs=10_000)
    return document("cores", report, machine_facts(), Scale(repeats=6))


def _printed(content: dict[str, Any], width: int = 140) -> str:
    shown = io.StringIO()
    console = Console(width=width, file=shown)
    for table in tables(content):
        console.print(table)
    return shown.getvalue()


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, ""),
        ({"migrations": None}, ""),
        ({"whole": False}, "did not run at once"),
        ({"ns": 0.0}, "0 ns is no time"),
        ({"migrations": 1}, "not on its CPU"),
        ({"cpus": ((0,), (0, 1))}, "not on its CPU"),
    ],
)
def test_a_reading_is_believed_or_refused(changes: dict[str, Any], reason: str) -> None:
    """Zero, incomplete, moved: each with its reason."""
    found = judge(replace(GOOD, **changes), PAIR, NODES)
    assert (reason in found) if reason else found == ""


def test_a_remote_page_must_be_remote() -> None:
    """The kernel is asked where the page is; on the pair's own node, or unknown, there is no figure."""
    remote = replace(PAIR, home="remote", home_cpu=2)
    assert judge(replace(GOOD, node=1), remote, NODES) == ""
    assert judge(GOOD, remote, NODES).startswith("the page is on node 0, which is not remote")
    assert "does not tell" in judge(replace(GOOD, node=None), remote, NODES)


def test_a_majority_makes_the_cell() -> None:
    """Readings keep their turn; a few that are refused are counted."""
    cell = settle(PAIR, [replace(GOOD, whole=False), GOOD, replace(GOOD, ns=51.0)], NODES)
    assert (cell.values_ns, len(cell.refusals), cell.reason) == ({1: 50.0, 2: 51.0}, 1, "")
    refused = settle(PAIR, [replace(GOOD, whole=False), GOOD], NODES)
    assert refused.values_ns == {}
    assert refused.reason.startswith("1 of 2 repetitions are refused, as: the two did not run at once")


def test_stable_means_that_readings_agree() -> None:
    """An interval within a tenth of the median."""
    assert settle(PAIR, [replace(GOOD, ns=ns) for ns in (50.0, 52.0, 54.0)], NODES).stable
    assert not settle(PAIR, [replace(GOOD, ns=ns) for ns in (50.0, 52.0, 60.0)], NODES).stable


def test_ratios_compare_kinds_of_pairs(content: dict[str, Any]) -> None:
    """Each to the nearest kind there is, and remote homes to own ones of the same kind."""
    medians = {name: about["median"] for name, about in content["ratios"].items()}
    assert medians == {
        "node_vs_cluster": 3.0,
        "machine_vs_cluster": 10.0,
        "remote_vs_own_home_cluster": 1.5,
        "remote_vs_own_home_node": 1.5,
    }


def test_the_heat_map_of_many_cpus_is_condensed(content: dict[str, Any]) -> None:
    """64 CPUs do not fit a terminal: three by three they do, and the title says so."""
    own, remote = matrices(content)
    assert (len(own.labels), len(own.ns), len(remote.ns)) == (64, 64 * 63, 2 * 32 * 31)
    small = condensed(own, 24)
    assert small.labels[:2] == ("0-2", "3-5")
    assert small.labels[-1] == "63-63"
    text = _printed(content, width=200)
    assert "64 CPUs, neighbours together" in text
    assert "page home on another node" in text


def test_the_picture_has_a_map_of_each_home(content: dict[str, Any], tmp_path: Path) -> None:
    """With the meaning of its axes, and the unit."""
    import matplotlib

    with matplotlib.rc_context({"svg.fonttype": "none"}):
        draw(content, tmp_path / "cores.svg")
    text = (tmp_path / "cores.svg").read_text()
    for part in (
        "page home at the CPU that begins",
        "page home on another node",
        "CPU that answers",
        "ns one way",
    ):
        assert part in text


def test_colours_mean_the_same_on_all_maps(content: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """From the fastest to the slowest of all; and noise alone does not span the whole scale."""
    figures: list[Any] = []
    monkeypatch.setattr(plot, "save", lambda figure, *_: figures.append(figure))
    draw(content, Path("cores.svg"))
    assert {image.get_clim() for axes in figures[0].axes for image in axes.images} == {(20.0, 200.0)}
    own = [result for result in content["results"] if result["relation"] == "cluster"]
    draw(content | {"results": own}, Path("cores.svg"))
    assert {image.get_clim() for axes in figures[1].axes for image in axes.images} == {(20.0, 30.0)}


def test_no_figure_no_picture(content: dict[str, Any], tmp_path: Path) -> None:
    """The error says what to do."""
    with pytest.raises(UnjankError, match=r"no heat map to draw: .* repeat on a quiet machine"):
        draw(content | {"results": []}, tmp_path / "cores.svg")


def test_refused_cells_are_absent_with_their_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    """One dead pair leaves a gap in the map, and its reason among what is absent."""

    def dead(pair: Pair, divisor: int = 1) -> Reading:
        return replace(_pretend(pair, divisor), whole=(pair.first, pair.second) != (0, 1))

    monkeypatch.setattr(_measure, "read", dead)
    report = run_cores(Scale(repeats=3), lambda _: None, topology=server(1, 4, 1))
    content = document("cores", report, machine_facts(), Scale(repeats=3))
    assert any(item["name"] == "core_to_core 0 1 own home" for item in content["absent"])
    assert (0, 1) not in matrices(content)[0].ns
    assert _printed(content).split().count(".") == 5


def test_a_sample_is_announced(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was left out is told, with the option that measures it."""
    monkeypatch.setattr(_measure, "read", _pretend)
    report = run_cores(Scale(repeats=2), lambda _: None, topology=server(2, 8), most_pairs=20)
    absent = {item["name"]: item["reason"] for item in report.absent}
    assert "--pairs measures more" in absent["core_to_core of all pairs"]


@pytest.mark.parametrize(
    ("cpus", "allowed", "reason"),
    [
        (None, {3}, "needs two CPUs and there is only CPU 3"),
        ([2, 2], {1, 2}, "needs two CPUs and there is only CPU 2"),
        ([0, 9], {0, 1}, "there is no CPU 9"),
        ([0, 3], {0, 1}, "may not use CPU 3"),
    ],
)
def test_cpus_that_cannot_be_used_are_refused(cpus: list[int] | None, allowed: set[int], reason: str) -> None:
    """One CPU, none such, forbidden: before anything is measured."""
    machine = server(1, 4)
    topology = Topology(machine.cpus, frozenset(allowed), described=True)
    with pytest.raises(UnjankError, match=reason):
        run_cores(Scale.quick(), lambda _: None, cpus=cpus, topology=topology)


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two CPUs that it may use")
def test_this_machine_is_measured() -> None:
    """Each pair gave a figure or a reason, and this thread's mask is as before."""
    mask = os.sched_getaffinity(0)
    chosen = sorted(mask)[:2]
    report = run_cores(Scale.quick(), lambda _: None, cpus=chosen)
    told = [r for r in report.results if r["home"] == "own"], [a for a in report.absent if "own" in a["name"]]
    assert sum(map(len, told)) == 2
    assert all(result["median"] > 0 for result in report.results)
    assert os.sched_getaffinity(0) == mask


def test_a_forbidden_cpu_is_an_oserror() -> None:
    """Natively, for whoever calls it directly; counts of zero are refused as well."""
    with pytest.raises(OSError, match="may not run on the CPU asked for"):
        _bench.core_pair(0, 1000, home_cpu=0, round_trips=1, samples=1, patience=1.0)
    with pytest.raises(ValueError, match="samples must be at least 1"):
        _bench.core_pair(0, 0, home_cpu=0, round_trips=1, samples=0, patience=1.0)
