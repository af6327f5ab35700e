"""What the counters prove: made-up counts of each kind, and the contradictions that refuse a figure."""

from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest

from unjank.bench import Report
from unjank.bench.pingpong import CONTEXT_SWITCH, CROSS_CORE, Case, Counts, Placement, Run, judge
from unjank.bench.pingpong._cell import gather, note
from unjank.bench.pingpong._run import QUANTILES

TOGETHER = Placement("same-cpu", 0, 0)
APART = Placement("same-cluster", 0, 1)
UNPINNED = Placement("unpinned")
QUANTILES_NS = MappingProxyType(dict.fromkeys(QUANTILES, 2_000.0))


def _counts(**changes: Any) -> Counts:
    return replace(
        Counts(voluntary=600, involuntary=400, migrations=0, cpus=(0,), cpu_ns=1_000_000), **changes
    )


SWITCHING = Run(1_000, 2_000_000, 200_000.0, QUANTILES_NS, 0, _counts(), _counts())
CROSSING = replace(
    SWITCHING,
    rounds_apart=1_000,
    caller=_counts(voluntary=990, involuntary=1),
    echo=_counts(voluntary=990, involuntary=1, cpus=(1,)),
)


def test_two_switches_a_round_on_one_cpu_are_context_switches() -> None:
    """Voluntary or not: who is woken may preempt who woke it."""
    assert judge(SWITCHING, TOGETHER).measured == CONTEXT_SWITCH
    assert judge(SWITCHING, UNPINNED).measured == CONTEXT_SWITCH


def test_sleeping_on_two_cpus_is_coordination() -> None:
    """Whether pinned there or put there by the scheduler."""
    assert judge(CROSSING, APART).measured == CROSS_CORE
    assert judge(CROSSING, UNPINNED).measured == CROSS_CORE


@pytest.mark.parametrize(
    ("run", "placement", "reason"),
    [
        (replace(SWITCHING, echo=_counts(cpus=(0, 1))), TOGETHER, "pinned to CPU 0 was seen on 0-1"),
        (
            replace(SWITCHING, caller=_counts(migrations=3)),
            TOGETHER,
            "migrated a side pinned to CPU 0, 3 times",
        ),
        (
            replace(SWITCHING, echo=_counts(voluntary=0)),
            TOGETHER,
            "1.40 switches a round on one CPU, where 2",
        ),
        (replace(SWITCHING, echo=_counts(involuntary=2_000)), TOGETHER, "3.60 switches a round: others took"),
        (replace(CROSSING, caller=_counts(voluntary=0)), APART, "only 0.99 slept"),
        (
            replace(SWITCHING, rounds_apart=400),
            UNPINNED,
            "on one CPU in 60% of the rounds and apart in the others",
        ),
        (SWITCHING, APART, "a side pinned to CPU 1 was seen on 0"),
    ],
)
def test_counters_that_disagree_refuse_the_figure(run: Run, placement: Placement, reason: str) -> None:
    """Wrong CPU, migrations, too few or too many switches, busy waits, a mixture: a reason, no figure."""
    verdict = judge(run, placement)
    assert verdict.measured is None
    assert reason in verdict.reason


def test_an_unknown_migration_count_is_no_contradiction() -> None:
    """Where the kernel keeps none, the CPUs seen in each round have to do."""
    assert judge(replace(SWITCHING, caller=_counts(migrations=None)), TOGETHER).measured == CONTEXT_SWITCH


def test_a_few_bad_repetitions_are_left_out() -> None:
    """The others make the figure, by their turn, and how many were refused stays known."""
    case = Case("pipe", "threads", TOGETHER)
    migrated = replace(SWITCHING, caller=_counts(migrations=1))
    cell = gather(case, [SWITCHING, migrated, SWITCHING])
    assert (cell.measured, len(cell.refusals), sorted(cell.runs)) == (CONTEXT_SWITCH, 1, [0, 2])


@pytest.mark.parametrize(
    ("runs", "reason"),
    [
        ([SWITCHING, CROSSING], "of 2 repetitions, 1 measured a context switch, 1 measured a cross-core"),
        (
            [replace(SWITCHING, rounds_apart=500)] * 2,
            "of 2 repetitions, 2 are refused, as: the scheduler had",
        ),
    ],
)
def test_a_case_without_a_majority_is_refused(runs: list[Run], reason: str) -> None:
    """There is no result then, but an entry among what is absent."""
    case = Case("pipe", "threads", UNPINNED)
    report = Report()
    note(gather(case, runs), report)
    assert report.results == []
    ((entry),) = report.absent
    assert entry["name"] == "pingpong pipe threads unpinned"
    assert entry["reason"].startswith(reason)


def test_a_result_carries_its_proof() -> None:
    """Label, unit, distribution and the counters' sums."""
    report = Report()
    note(gather(Case("pipe", "threads", APART), [CROSSING, CROSSING]), report)
    (result,) = report.results
    assert (result["measured"], result["unit"], result["median"]) == (CROSS_CORE, "ns/hand-over", 1_000.0)
    assert result["quantiles"]["p99"] == 1_000.0
    assert result["counters"] == {
        "voluntary": 3_960,
        "involuntary": 4,
        "migrations": 0,
        "cpus_seen": [0, 1],
        "rounds": 2_000,
        "rounds_apart": 2_000,
        "switches_per_round": 1.982,
        "cpu_share": 1.0,
    }
