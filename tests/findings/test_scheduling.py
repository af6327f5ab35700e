"""Scheduling is read in pieces; what it answers must not depend on that."""

from hypothesis import given
from hypothesis import strategies as st

from unjank.findings._scheduling import CpuSpan, Scheduling, ThreadSpan

PAGE_NS = 100_000_000
HIDDEN = (3, 4)  # threads whose ends the kernel does not tell, as it does of some containers' managers
_LENGTHS = st.integers(min_value=1, max_value=3 * PAGE_NS)


class Recorded:
    """Answers the queries of `Scheduling` from lists, as the engine would from its tables."""

    def __init__(self, runs: list[CpuSpan], states: list[ThreadSpan]) -> None:
        self.runs, self.states = runs, states

    def query(self, sql: str) -> list[object]:
        """Tells the queries apart by their words and takes the numbers out of them."""
        numbers = [int(word) for word in sql.split() if word.isdecimal()]
        if "FROM thread_state" in sql:
            return [_state(span) for span in self.states]
        if "ORDER BY ts DESC LIMIT 1" in sql:
            return [_run(run) for run in self.runs if run.start < numbers[1]][-1:]
        return [_run(run) for run in self.runs if numbers[1] <= run.start < numbers[2]]


def _run(run: CpuSpan) -> object:
    dur = -1 if run.utid in HIDDEN else run.end - run.start
    return _row(ts=run.start, dur=dur, utid=run.utid, priority=run.priority)


def _state(span: ThreadSpan) -> object:
    columns = {"state": span.state, "cpu": span.cpu, "blocked_function": span.function}
    return _row(ts=span.start, dur=span.dur, **columns)


def _row(**columns: object) -> object:
    return type("Row", (), columns)()


@st.composite
def _histories(draw: st.DrawFn) -> list[CpuSpan]:
    """One CPU's history: runs of threads 0 (idle) to 4 without gaps."""
    runs, ts = [], 0
    for length in draw(st.lists(_LENGTHS, max_size=20)):
        runs.append(CpuSpan(ts, ts + length, draw(st.integers(0, 4)), 120))
        ts += length
    return [*runs, CpuSpan(ts, ts + 1, 1, 120)]  # of the last run the end is known


@given(_histories(), st.integers(0, 12 * PAGE_NS), _LENGTHS)
def test_running_on_is_what_a_plain_search_finds(runs: list[CpuSpan], start: int, length: int) -> None:
    """Who ran on a CPU, and for how long, is the same as when every run is looked at."""
    end = start + length
    expected: dict[int, int] = {}
    for run in runs:
        overlap = min(run.end, end) - max(run.start, start)
        if overlap > 0 and run.utid != 0:
            expected[run.utid] = expected.get(run.utid, 0) + overlap
    found: dict[int, int] = {}
    for span in Scheduling(Recorded(runs, []), 10**12).running_on(0, start, end):
        found[span.utid] = found.get(span.utid, 0) + span.end - span.start
    assert found == expected


@st.composite
def _lives(draw: st.DrawFn) -> list[ThreadSpan]:
    """One thread's states without gaps."""
    spans, ts = [], 0
    for length in draw(st.lists(_LENGTHS, max_size=20)):
        state = draw(st.sampled_from(["Running", "R", "R+", "S", "D"]))
        cpu = draw(st.integers(0, 3)) if state == "Running" else None
        spans.append(ThreadSpan(ts, ts + length, state, cpu))
        ts += length
    return spans


@given(_lives(), st.integers(0, 12 * PAGE_NS), _LENGTHS)
def test_states_are_what_a_plain_search_finds(spans: list[ThreadSpan], start: int, length: int) -> None:
    """A thread's states within a span of time are the same as when every state is looked at."""
    end = start + length
    cut = [(max(s.start, start), min(s.end, end), s.state) for s in spans]
    expected = [(low, high, state) for low, high, state in cut if high > low]
    states = Scheduling(Recorded([], spans), 10**12).states((1,), start, end)
    assert [(s.start, s.end, s.state) for s in states] == expected


@given(_lives())
def test_cpu_of_a_runnable_thread(spans: list[ThreadSpan]) -> None:
    """Preempted threads wait for their last CPU, woken ones for their next, if there is one."""
    states = Scheduling(Recorded([], spans), 10**12).states((1,), 0, 10**12)
    for index, span in enumerate(states):
        before = [s.cpu for s in states[:index] if s.state == "Running"]
        after = [s.cpu for s in states[index + 1 :] if s.state == "Running"]
        candidates = {"R+": before[-1:] + after[:1], "R": after[:1] + before[-1:]}.get(span.state)
        if candidates is not None:
            assert span.cpu == (candidates[0] if candidates else None)
