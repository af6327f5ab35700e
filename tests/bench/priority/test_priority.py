"""Shares of a CPU: what the scheduler promises, what is believed, and this machine for a moment."""

import io
import os
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from unjank import UnjankError, _bench
from unjank.bench import Scale, document, machine_facts
from unjank.bench.priority import (
    Experiment,
    Reading,
    draw,
    expected_shares,
    judge,
    plot,
    run_priority,
    tables,
)
from unjank.bench.priority._experiment import run_once
from unjank.cpu import Cpu, Topology

MACHINE = Topology(tuple(Cpu(n, online=True) for n in range(4)), frozenset({1, 2}), described=True)
FAVOURED = Experiment("favoured", (-20, 0, 0, 0), 2)
GOOD = Reading((970, 10, 10, 10), 1_000, (-20, 0, 0, 0), ((2,), (2,), (2,), (2,)), 0)


def _pretend(experiment: Experiment, seconds: float) -> Reading:
    """A scheduler that keeps its promise on one CPU, and has one for each thread otherwise."""
    wall = 1_000_000
    if experiment.cpu is None:
        used, cpus = (wall,) * len(experiment.nices), tuple((n,) for n in range(len(experiment.nices)))
    else:
        used = tuple(round(share * wall) for share in expected_shares(experiment.nices))
        cpus = ((experiment.cpu,),) * len(experiment.nices)
    return Reading(used, wall, experiment.nices, cpus, 0)


def _forbidden(experiment: Experiment, seconds: float) -> Reading:
    if min(experiment.nices) < 0:
        raise UnjankError("this process may not set nice -20")
    return _pretend(experiment, seconds)


@pytest.fixture
def content() -> dict[str, Any]:
    """The document of a made-up machine."""
    report = run_priority(Scale(repeats=6), lambda _: None, topology=MACHINE, run=_pretend)
    return document("priority", report, machine_facts(), Scale(repeats=6))


def test_a_nice_level_is_a_quarter() -> None:
    """Weights of the kernel: nice -20 against three at 0 is promised 96.7 %."""
    assert expected_shares((0, 0)) == (0.5, 0.5)
    assert expected_shares((0, 1))[0] == pytest.approx(1.25 / 2.25)
    assert expected_shares((-20, 0, 0, 0))[0] == pytest.approx(88761 / (88761 + 3 * 1024), abs=1e-3)


@pytest.mark.parametrize(
    ("reading", "reason"),
    [
        (GOOD, ""),
        (replace(GOOD, nices=(0, 0, 0, 0)), "had the threads at nice (0, 0, 0, 0)"),
        (replace(GOOD, cpus=((2,), (1, 2), (2,), (2,))), "not on CPU 2"),
        (replace(GOOD, migrations=2), "not on CPU 2"),
        (replace(GOOD, migrations=None), ""),
        (replace(GOOD, cpu_ns=(970, 970, 0, 0)), "1.94 CPUs' time was counted on one CPU"),
        (replace(GOOD, cpu_ns=(0, 0, 0, 0)), "no CPU time at all"),
    ],
)
def test_a_reading_is_believed_or_refused(reading: Reading, reason: str) -> None:
    """Other nice values than asked, moved threads, more time than there is."""
    found = judge(reading, FAVOURED)
    assert (reason in found) if reason else found == ""


def test_ratios_have_goals_and_what_was_published(content: dict[str, Any]) -> None:
    """The favoured share, how equal equal ones are, and what binding costs."""
    ratios = content["ratios"]
    assert ratios["favoured_share"]["median"] == pytest.approx(0.9666, abs=1e-3)
    assert (ratios["favoured_share"]["met"], ratios["favoured_share"]["published"]) == (True, 0.98)
    assert (ratios["equal_share_error"]["median"], ratios["equal_share_error"]["met"]) == (0.0, True)
    assert ratios["unbound_vs_bound_cpu_time"]["median"] == pytest.approx(4.0, abs=1e-3)


def test_other_nice_values_are_not_held_against_the_goal() -> None:
    """What is promised depends on them; the equal ones take the lowest priority of them."""
    report = run_priority(Scale(2), lambda _: None, nices=[0, 19], topology=MACHINE, run=_pretend)
    assert report.ratios["favoured_share"].goal is None
    equal = {r["nice"] for r in report.results if r["experiment"] == "equal"}
    assert equal == {19}


def test_without_the_right_the_rest_is_measured() -> None:
    """What the kernel forbids is absent with the reason, equal shares are there."""
    report = run_priority(Scale(2), lambda _: None, topology=MACHINE, run=_forbidden)
    absent = {item["name"]: item["reason"] for item in report.absent}
    assert absent.keys() == {"priority favoured", "priority unbound"}
    assert "may not set nice -20" in absent["priority favoured"]
    assert report.ratios.keys() == {"equal_share_error"}


def test_one_cpu_has_nothing_unbound() -> None:
    """There all threads are bound to it anyway."""
    one = Topology(MACHINE.cpus, frozenset({3}), described=True)
    report = run_priority(Scale(2), lambda _: None, topology=one, run=_pretend)
    assert "one CPU only" in {item["name"]: item["reason"] for item in report.absent}["priority unbound"]
    assert {result["cpu"] for result in report.results} == {3}


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"nices": [0]}, "two nice values or more"),
        ({"nices": []}, "two nice values or more"),
        ({"nices": [-21, 0]}, "each from -20 to 19"),
        ({"cpu": 3}, "may not use CPU 3"),
        ({"cpu": 9}, "there is no CPU 9"),
    ],
)
def test_nonsense_is_refused(arguments: dict[str, Any], reason: str) -> None:
    """Before anything runs."""
    with pytest.raises(UnjankError, match=reason):
        run_priority(Scale.quick(), lambda _: None, topology=MACHINE, run=_pretend, **arguments)


def test_table_and_picture_name_what_they_show(content: dict[str, Any], tmp_path: Path) -> None:
    """Each experiment in words, each thread with its nice value and share, and what was promised."""
    import matplotlib

    shown = io.StringIO()
    for table in tables(content):
        Console(width=130, file=shown).print(table)
    text = shown.getvalue()
    for part in ("bound to CPU 2, all alike", "bound to none", "-20", "96.66%", "25.00%", "promised"):
        assert part in text
    with matplotlib.rc_context({"svg.fonttype": "none"}):
        draw(content, tmp_path / "priority.svg")
    picture = (tmp_path / "priority.svg").read_text()
    for part in ("bound to CPU 2", "nice -20", "96.7%", "25.0%", "promised by the scheduler"):
        assert part in picture


def test_words_stand_above_what_was_promised(
    content: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No line crosses them, also where a thread got less than it was promised."""
    figures: list[Any] = []
    monkeypatch.setattr(plot, "save", lambda figure, *_: figures.append(figure))
    results = [result | {"cpu_share": 0.0} for result in content["results"]]
    draw(content | {"results": results}, Path("priority.svg"))
    (axes,) = figures[0].axes
    promised = [line.get_ydata()[0] for line in axes.lines]
    words = [text.get_position()[1] for text in axes.texts]
    assert all(word > line for word, line in zip(words, promised, strict=False))


def test_this_machine_gives_shares_and_keeps_its_own_nice() -> None:
    """Four threads, no rights needed; the process has its nice value and mask as before."""
    mask, nice = os.sched_getaffinity(0), os.nice(0)
    report = run_priority(Scale(1, 100), lambda _: None, nices=[nice, 19, 19, 19])
    for experiment in {result["experiment"] for result in report.results}:
        shares = [r["median"] for r in report.results if r["experiment"] == experiment]
        assert sum(shares) == pytest.approx(1.0)
    assert report.results or report.absent
    assert (os.sched_getaffinity(0), os.nice(0)) == (mask, nice)


def _threads() -> set[str]:
    return {task.name for task in Path("/proc/self/task").iterdir()}


def test_a_crew_ends_when_it_is_forgotten() -> None:
    """No thread of it is left, also if it was never stopped."""
    before = _threads()
    crew = _bench.BusyCrew([(19, -1), (19, -1)])
    crew.start()
    working = _threads() - before
    assert len(working) >= 2
    del crew
    assert not working & _threads()


def test_an_interrupt_ends_the_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C while they work: it is heard at once, and nobody works on."""
    working: set[str] = set()

    def interrupted(seconds: float) -> None:
        working.update(_threads())
        raise KeyboardInterrupt

    before = _threads()
    monkeypatch.setattr(time, "sleep", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_once(Experiment("equal", (19, 19), None), 3600.0)
    assert len(working - before) >= 2
    assert not (working - before) & _threads()


def test_the_pace_of_a_cpu_is_a_time() -> None:
    """A step takes some cycles; a CPU that is not there is an error."""
    assert 0.1 < _bench.step_ns(min(os.sched_getaffinity(0))) < 1_000
    with pytest.raises(OSError, match="may not run on the CPU"):
        _bench.step_ns(1000)


def test_natively_nonsense_is_refused() -> None:
    """No threads, and CPUs that are not there."""
    with pytest.raises(ValueError, match="threads must be at least 1"):
        _bench.BusyCrew([])
    with pytest.raises(OSError, match="may not run on the CPU"):
        _bench.BusyCrew([(0, 1000)])
