"""Whatever waits a trace holds, the sums are right and nothing is counted twice or lost."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.findings.builder import US, Args, Run, TraceBuilder

from unjank import TraceProcessor
from unjank.findings import FindingSet, find_all

THREADS = 5
_RESULTS = st.sampled_from(["acquired", "timeout", "interrupted"])


@st.composite
def _traces(draw: st.DrawFn) -> tuple[TraceBuilder, list[int]]:
    """Random waits among five threads on three locks, with and without scheduling."""
    trace = TraceBuilder()
    trace.session(100, sched="procfs", ended=draw(st.booleans()))
    threads = [trace.thread(100, 100 + index, f"t{index}") for index in range(THREADS)]
    lengths: list[int] = []
    for waiter in range(THREADS):
        ts = 0
        for _ in range(draw(st.integers(0, 4))):
            ts += draw(st.integers(1, 20_000)) * US
            owner = draw(st.sampled_from([index for index in range(THREADS) if index != waiter]))
            dur = draw(st.integers(0, 30_000)) * US
            lock = draw(st.integers(1, 3))
            counters: Args = {
                "owner_wait_ns": draw(st.integers(0, dur)),
                "owner_nice": draw(st.integers(-20, 19)),
            }
            trace.contention(
                threads[waiter],
                threads[owner],
                ts,
                ts + dur,
                lock=f"L{lock}",
                lock_id=lock,
                result=draw(_RESULTS),
                end_args=counters,
            )
            lengths.append(dur)
            ts += dur
    if draw(st.booleans()):
        trace.schedule(0, _runs(draw, trace))
    return trace, lengths


def _runs(draw: st.DrawFn, trace: TraceBuilder) -> list[Run]:
    runs, ts = [], 0
    for _ in range(draw(st.integers(1, 10))):
        thread = trace.thread(100, 100 + draw(st.integers(0, THREADS - 1)), "again")
        dur = draw(st.integers(1, 20_000)) * US
        runs.append(
            Run(thread, ts, ts + dur, draw(st.sampled_from(["S", "R", "R+"])), draw(st.integers(90, 139)))
        )
        ts += dur
    return runs


def _found(trace: TraceBuilder) -> FindingSet:
    with TraceProcessor(trace.data()) as tp:
        return find_all(tp)


@settings(max_examples=25, deadline=None)
@given(_traces())
def test_every_wait_counts_once(made: tuple[TraceBuilder, list[int]]) -> None:
    """Over all findings on locks, counts and sums are those of the waits in the trace."""
    trace, lengths = made
    waits = [finding for finding in _found(trace).findings if finding.kind == "lock-contention"]
    assert sum(wait.count for wait in waits) == len(lengths)
    assert sum(_number(wait.detail["total_ns"]) for wait in waits) == sum(lengths)
    assert max((wait.dur_ns for wait in waits), default=0) == max(lengths, default=0)


@settings(max_examples=25, deadline=None)
@given(_traces())
def test_no_impossible_times(made: tuple[TraceBuilder, list[int]]) -> None:
    """What an owner did while others waited never adds up to more than they waited."""
    for finding in _found(made[0]).findings:
        detail = finding.detail
        assert 0 <= finding.dur_ns <= _number(detail["total_ns"])
        if finding.kind == "priority-inversion":
            parts = [_number(detail[key]) for key in ("held_off_ns", "owner_ran_ns", "owner_blocked_ns")]
            assert min(parts) >= 0
            assert sum(parts) <= _number(detail["total_ns"])


@settings(max_examples=15, deadline=None)
@given(_traces())
def test_any_report_is_json(made: tuple[TraceBuilder, list[int]]) -> None:
    """Every finding survives the way through JSON unchanged."""
    for finding in _found(made[0]).findings:
        assert json.loads(json.dumps(finding.to_dict(), allow_nan=False)) == finding.to_dict()


def _number(value: object) -> int:
    assert isinstance(value, int)
    return value
