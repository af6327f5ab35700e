"""Counting at once: cases, what is believed, ratios, tables and pictures; and a real run at a hundredth."""

import io
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from unjank import UnjankError, _bench
from unjank.bench import Scale, document, machine_facts
from unjank.bench.atomics import (
    LAYOUTS,
    OPERATIONS,
    Case,
    Reading,
    _measure,
    draw,
    judge,
    run_atomics,
    tables,
    thread_counts,
)
from unjank.bench.atomics._reading import Thread
from unjank.cpu import Cpu, Topology

MACHINE = Topology(tuple(Cpu(n, online=True) for n in range(4)), frozenset(range(4)), described=True)
CASE = Case("fetch_add", "shared", "native", (0, 1))
THREAD = Thread(
    operations=500, retries=5, wall_ns=1_000, run_wait_ns=0, cpu_ns=1_000, cpus=(0,), migrations=0
)
GOOD = Reading((THREAD, replace(THREAD, cpus=(1,))), 1_000)
NS = {"lock": 20.0, "cas_loop": 10.0, "fetch_add": 5.0}


def _pretend(case: Case, seconds: float, tries: int) -> Reading:
    """A machine on which sharing costs four times as much, and LSE is three times as fast as LL/SC."""
    ns = NS[case.operation] * (4 if case.layout == "shared" and len(case.cpus) > 1 else 1)
    ns *= 3 if case.instructions == "llsc" else 1
    threads = tuple(
        replace(THREAD, wall_ns=round(ns * THREAD.operations * len(case.cpus)), cpus=(cpu,))
        for cpu in case.cpus
    )
    return Reading(threads, sum(thread.operations for thread in threads))


@pytest.fixture
def arm(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The document of a made-up ARM64 machine with four CPUs and both kinds of instructions."""
    monkeypatch.setattr(_measure, "read_best", _pretend)
    monkeypatch.setattr(_bench, "available_instructions", lambda: ["llsc", "lse"])
    report = run_atomics(Scale(repeats=6), lambda _: None, topology=MACHINE)
    return document("atomics", report, machine_facts(), Scale(repeats=6))


def test_threads_double_up_to_the_most() -> None:
    """The most itself is always there."""
    assert [thread_counts(most) for most in (1, 2, 6, 8)] == [[1], [1, 2], [1, 2, 4, 6], [1, 2, 4, 8]]


@pytest.mark.parametrize(
    ("reading", "reason"),
    [
        (GOOD, ""),
        (replace(GOOD, counted=999), "add up to 999 after 1000 counts: not atomic"),
        (Reading((THREAD, replace(THREAD, operations=0, cpus=(1,))), 500), "never got to count"),
        (Reading((THREAD, THREAD), 1_000), "not on its CPU"),
        (Reading((THREAD, replace(THREAD, cpus=(1,), migrations=1)), 1_000), "not on its CPU"),
        (Reading((THREAD, replace(THREAD, cpus=(1,), run_wait_ns=400)), 1_000), "for 40% of the time"),
        (Reading((THREAD, replace(THREAD, cpus=(1,), run_wait_ns=None, migrations=None)), 1_000), ""),
    ],
)
def test_a_reading_is_believed_or_refused(reading: Reading, reason: str) -> None:
    """Lost counts, idle threads, moved ones, and threads that did not run at once."""
    found = judge(reading, CASE)
    assert (reason in found) if reason else found == ""


def test_threads_that_share_a_cpu_may_wait() -> None:
    """With more threads than CPUs they take turns; that is what is measured then."""
    both = tuple(replace(THREAD, run_wait_ns=500) for _ in range(2))
    assert judge(Reading(both, 1_000), replace(CASE, cpus=(0, 0))) == ""


def test_what_others_took_is_taken_off_a_single_thread() -> None:
    """Half of the time gone: the count took half of what the clock says."""
    alone = Reading((replace(THREAD, run_wait_ns=500),), 500)
    assert alone.ns_each == pytest.approx(1.0)
    assert judge(alone, replace(CASE, cpus=(0,))) == ""


def test_rates_of_threads_add_up() -> None:
    """Two threads at 2 ns a count make a count a nanosecond."""
    assert GOOD.ns_each == pytest.approx(1.0)
    assert GOOD.fairness == 1.0


def test_arm64_compares_both_instructions_in_one_run(arm: dict[str, Any]) -> None:
    """Atomics with each, locks once; the published ratio stands beside ours."""
    found = {(r["operation"], r["instructions"]) for r in arm["results"]}
    assert found == {("lock", "lse")} | {(op, how) for op in OPERATIONS[1:] for how in ("llsc", "lse")}
    assert arm["ratios"]["lse_vs_llsc_cas_loop"]["median"] == pytest.approx(3.0)
    assert arm["ratios"]["lse_vs_llsc_cas_loop"]["published"] == 3.0


def test_ratios_are_of_rates(arm: dict[str, Any]) -> None:
    """More is better for the first named; contention shows against padded counters."""
    medians = {name: about["median"] for name, about in arm["ratios"].items()}
    assert medians["fetch_add_vs_lock_1_threads"] == pytest.approx(4.0)
    assert medians["cas_loop_vs_lock_4_threads"] == pytest.approx(2.0)
    assert medians["fetch_add_padded_vs_shared_4_threads"] == pytest.approx(4.0)
    assert medians["fetch_add_padded_vs_packed_4_threads"] == pytest.approx(1.0)
    assert all(about["of"] == "rate" for about in arm["ratios"].values())


def test_an_old_arm64_says_what_it_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without LSE its ratio is absent, with the reason."""
    monkeypatch.setattr(_measure, "read_best", _pretend)
    monkeypatch.setattr(_bench, "available_instructions", lambda: ["llsc"])
    report = run_atomics(Scale(repeats=2), lambda _: None, cpus=[3], topology=MACHINE)
    absent = {item["name"]: item["reason"] for item in report.absent}
    assert "older than ARMv8.1" in absent["lse_vs_llsc_cas_loop"]
    assert "one thread only" in absent["contention"]


def test_tables_and_picture_name_what_they_show(arm: dict[str, Any], tmp_path: Path) -> None:
    """A table and a panel for each layout, a column and a line for each operation and instructions."""
    import matplotlib

    shown = io.StringIO()
    console = Console(width=150, file=shown)
    for table in tables(arm):
        console.print(table)
    text = shown.getvalue()
    assert text.count("ns a count") == len(LAYOUTS)
    for part in ("cas loop llsc", "cas loop lse", "fetch add lse", "lock"):
        assert part in text
    with matplotlib.rc_context({"svg.fonttype": "none"}):
        draw(arm, tmp_path / "atomics.svg")
    picture = (tmp_path / "atomics.svg").read_text()
    for part in ("one counter", "a counter each, padded", "cas loop llsc", "million counts a second"):
        assert part in picture


def test_refused_cases_are_absent_and_called_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their cell says refused, their ratios are not there."""

    def disturbed(case: Case, seconds: float, tries: int) -> Reading:
        reading = _pretend(case, seconds, tries)
        return replace(reading, counted=0) if case.operation == "lock" else reading

    monkeypatch.setattr(_measure, "read_best", disturbed)
    monkeypatch.setattr(_bench, "available_instructions", lambda: ["native"])
    report = run_atomics(Scale(repeats=3), lambda _: None, cpus=[0, 1], topology=MACHINE)
    assert "atomics lock shared 2" in {item["name"] for item in report.absent}
    assert not [name for name in report.ratios if "lock" in name]
    assert "cas_loop_padded_vs_shared_2_threads" in report.ratios


def test_forbidden_cpus_are_refused() -> None:
    """Before anything is measured."""
    with pytest.raises(UnjankError, match="there is no CPU 7"):
        run_atomics(Scale.quick(), lambda _: None, cpus=[7], topology=MACHINE)


def test_this_machine_counts_right() -> None:
    """Every case gave a figure or the reason why not; more threads than CPUs share them."""
    mask = os.sched_getaffinity(0)
    report = run_atomics(Scale(1, 100), lambda _: None, cpus=sorted(mask)[:2], threads=3)
    refused = {item["name"] for item in report.absent if item["name"].startswith("atomics ")}
    instructions = len(_bench.available_instructions())
    assert len(report.results) + len(refused) == 3 * len(LAYOUTS) * (1 + 2 * instructions)
    assert not [item for item in report.absent if "not atomic" in item["reason"]]
    assert os.sched_getaffinity(0) == mask


def test_natively_nonsense_is_refused() -> None:
    """No threads, unknown names, instructions of another machine, CPUs that are not there."""
    there = _bench.available_instructions()[0]
    foreign: Any = "lse" if there == "native" else "native"
    for layout, instructions, cpus in (("shared", there, []), ("odd", there, [0]), ("shared", foreign, [0])):
        with pytest.raises(ValueError, match=r"threads must be|layout is one of|has no instructions"):
            _bench.count_at_once("lock", layout=layout, instructions=instructions, cpus=cpus, seconds=0.001)  # type: ignore[arg-type]  # on purpose
    with pytest.raises(OSError, match="may not run on the CPU"):
        _bench.count_at_once("lock", layout="shared", instructions=there, cpus=[1000], seconds=0.001)
