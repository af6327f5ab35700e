"""The whole of it, for real at a hundredth, and its pictures from made-up documents."""

import io
import os
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from unjank.bench import Report, Scale, document, machine_facts
from unjank.bench.pingpong import CONTEXT_SWITCH, CROSS_CORE, MEDIA, draw, plot, run_pingpong, tables
from unjank.bench.pingpong.published import COMPARISON, RATIOS, ours_of

two_cpus = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two CPUs that it may use")


@pytest.fixture(scope="module")
def content() -> dict[str, Any]:
    """The document of a quick run of everything."""
    report = run_pingpong(Scale.quick(), lambda _: None)
    return document("pingpong", report, machine_facts(), Scale.quick())


def _cells(content: dict[str, Any]) -> dict[tuple[str, str, str], dict[str, Any]]:
    found = [result for result in content["results"] if result["name"] == "pingpong"]
    return {(cell["medium"], cell["parties"], cell["placement"]): cell for cell in found}


def _refused(content: dict[str, Any]) -> set[str]:
    return {item["name"] for item in content["absent"]}


def test_every_case_is_measured_or_refused(content: dict[str, Any]) -> None:
    """Each medium and kind of party on one CPU is a context switch, or absent with the reason."""
    cells, refused = _cells(content), _refused(content)
    for medium in MEDIA:
        for parties in ("threads", "processes"):
            cell = cells.get((medium, parties, "same-cpu"))
            if cell is None:
                assert f"pingpong {medium} {parties} same-cpu" in refused
            else:
                assert cell["measured"] == CONTEXT_SWITCH
                assert cell["counters"]["switches_per_round"] == pytest.approx(2, abs=0.6)
                assert cell["counters"]["rounds_apart"] == 0


@two_cpus
def test_two_cpus_are_never_called_a_context_switch(content: dict[str, Any]) -> None:
    """Pinned apart, it is coordination or nothing."""
    apart = [
        cell for (_, _, placement), cell in _cells(content).items() if placement in ("same-cluster", "across")
    ]
    assert all(cell["measured"] == CROSS_CORE for cell in apart)
    assert all(cell["counters"]["rounds_apart"] == cell["counters"]["rounds"] for cell in apart)


def test_the_ratios_are_there_or_absent(content: dict[str, Any]) -> None:
    """Against the C program, and of processes to threads; a ratio of refused cases says so."""
    for name in (
        "same_core_vs_bare",
        "same_core_vs_bare_cpu",
        "processes_vs_threads",
        "same_core_vs_perf_pipe",
    ):
        assert name in content["ratios"] or name in _refused(content) or _refused_one_core(content)


def _refused_one_core(content: dict[str, Any]) -> bool:
    return any(name.startswith("pingpong pipe") and name.endswith("same-cpu") for name in _refused(content))


def test_tables_have_every_case_and_theirs(content: dict[str, Any]) -> None:
    """The published figures stand beside ours, as theirs."""
    shown = io.StringIO()
    console = Console(width=130, file=shown)
    for table in tables(content):
        console.print(table)
    text = shown.getvalue()
    assert text.count("same-cpu") == sum(placement == "same-cpu" for _, _, placement in _cells(content))
    for part in ("theirs measured", "8,700", "16.51", "527", "539", "1.02"):
        assert part in text


def _cell(parties: str, placement: str, median: float, measured: str) -> dict[str, Any]:
    return {
        "name": "pingpong",
        "medium": "pipe",
        "parties": parties,
        "placement": placement,
        "median": median,
        "measured": measured,
        "quantiles": {f"p{n}": median * (1 + n / 100) for n in (5, 25, 50, 75, 99)},
    }


def test_the_picture_shows_both_kinds_and_theirs(tmp_path: Path) -> None:
    """Every case by name, our ratio and the published one; what is missing is called so."""
    import matplotlib

    results = [
        _cell("threads", "same-cpu", 1_000.0, CONTEXT_SWITCH),
        _cell("threads", "across", 9_000.0, CROSS_CORE),
    ]
    machine = {"cpu": "Fast", "cpus": 4, "python": "3.13.0", "gil": True}
    target = tmp_path / "figures.svg"
    with matplotlib.rc_context({"svg.fonttype": "none"}):
        draw({"benchmark": "pingpong", "machine": machine, "results": results}, target)
    text = target.read_text()
    for part in (
        "pipe, threads, across",
        "9.00",
        "9,000 ns",
        "16.51",
        "published, their machine",
        "no figure",
    ):
        assert part in text


def test_what_is_faster_than_one_core_has_its_bar_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """The scale reaches below the smallest ratio: on a busy machine unpinned threads can be faster."""
    figures: list[Any] = []
    monkeypatch.setattr(plot, "save", lambda figure, *_: figures.append(figure))
    results = [
        _cell("threads", "same-cpu", 8_000.0, CONTEXT_SWITCH),
        _cell("threads", "unpinned", 1_000.0, CONTEXT_SWITCH),
    ]
    draw({"results": results}, Path("figures.svg"))
    comparison = figures[0].axes[1]
    low, high = comparison.get_ylim()
    words = [text.get_position()[1] for text in comparison.texts]
    assert low < 1 / 8
    assert min(words) == pytest.approx(1 / 8)
    assert max(words) < high


def test_rows_find_their_result() -> None:
    """The pair of two cores is the farthest that was measured."""
    near, far = (_cell("threads", name, 1.0, CROSS_CORE) for name in ("same-cluster", "across"))
    (row,) = [row for row in COMPARISON if "across" in row.placements]
    assert ours_of(row, [near, far]) is far
    assert ours_of(row, [near]) is near
    assert ours_of(COMPARISON[0], [near, far]) is None


def test_published_ratios_are_those_of_the_figures() -> None:
    """16 times unpinned, and hardly more for processes."""
    assert RATIOS["unpinned_vs_same_core"] == pytest.approx(16.5, abs=0.05)
    assert RATIOS["processes_vs_threads"] == pytest.approx(1.02, abs=0.005)


def test_affinity_is_as_before(content: dict[str, Any]) -> None:
    """Only threads and processes made for it were pinned."""
    mask = os.sched_getaffinity(0)
    assert isinstance(
        run_pingpong(Scale(1, 100), lambda _: None, media=["pipe"], parties=["threads"]), Report
    )
    assert os.sched_getaffinity(0) == mask
    assert content["machine"]["cpus"] == len(mask)
