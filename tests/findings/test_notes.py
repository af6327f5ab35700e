"""Notes: what a trace could not tell."""

import pytest
from tests.findings.builder import MS, Run, TraceBuilder
from tests.findings.conftest import Find

from unjank.findings import find_all

DEFAULT_NOTE = "No thread had to wait for a lock of another one while this was recorded."


def recorded(sched: str, *, ended: bool = True, **session: str) -> TraceBuilder:
    """A trace of the recorder with one thread and nothing else."""
    trace = TraceBuilder()
    trace.process(100, "launcher.py")
    trace.thread(100, 101, "worker")
    trace.session(100, sched=sched, ended=ended, **session)
    return trace


def test_recorded_and_nothing_waited(find: Find) -> None:
    """A recording without contention says that there was none."""
    assert DEFAULT_NOTE in find(recorded(sched="off")).notes


def test_foreign_trace_without_locks(find: Find) -> None:
    """Another trace without contention says that nothing is known, and how to record it."""
    trace = TraceBuilder()
    trace.slice(trace.thread(100, 101, "worker"), "work", 1 * MS, 2 * MS)
    found = find(trace)
    assert found.findings == ()
    assert any("no lock contention slices" in note and "dalvik" in note for note in found.notes)
    assert any("no scheduling" in note and "sched_switch" in note for note in found.notes)


@pytest.mark.parametrize(
    ("sched", "words"),
    [
        ("procfs", "Of the scheduling only the owners' run and waiting times were recorded (no tracefs)"),
        ("ftrace", "The kernel's scheduling was asked for but none arrived (no tracefs)"),
        ("off", "Scheduling was not recorded (no tracefs)"),
    ],
)
def test_missing_scheduling_says_why(find: Find, sched: str, words: str) -> None:
    """Each level of scheduling that lacks something gives its reason."""
    notes = find(recorded(sched=sched, sched_reason="no tracefs")).notes
    assert any(note.startswith(words) for note in notes)


def test_recorded_scheduling_needs_no_note(find: Find) -> None:
    """With the kernel's scheduling there is nothing to say about it."""
    trace = recorded(sched="ftrace")
    trace.schedule(0, [Run(trace.thread(100, 101, "worker"), 1 * MS, 2 * MS)])
    assert find(trace).notes == (DEFAULT_NOTE,)


def test_recording_without_end(find: Find) -> None:
    """A recording whose program died says so."""
    notes = find(recorded(sched="off", ended=False)).notes
    assert any(note.startswith("The recording of launcher.py has no end") for note in notes)


def test_dropped_events_by_thread(find: Find) -> None:
    """Lost events are counted by thread, the one that lost most first."""
    trace = recorded(sched="off")
    trace.thread(100, 102, "flooder")
    trace.instant(101, 1 * MS, "events dropped", count=5)
    trace.instant(102, 2 * MS, "events dropped", count=70)
    trace.instant(102, 3 * MS, "events dropped", count=30)
    notes = find(trace).notes
    assert any(note.startswith("The recorder dropped 105 events (flooder 100, worker 5)") for note in notes)


def test_notes_of_the_trace_come_first() -> None:
    """What the reader of the file knows, such as that it was cut short, leads the notes."""

    class Cut:
        notes = ("the trace is cut off",)

        def query(self, sql: str) -> list[object]:
            return list(_rows(sql))

    assert find_all(Cut()).notes[0] == "the trace is cut off"


def _rows(sql: str) -> list[object]:
    """An empty trace: only the two queries that always have a row give one."""
    empty = type("Row", (), {"start": 0, "finish": 0, "waits": 0, "longest": None})
    return [empty()] if "trace_start() AS start" in sql or "COUNT() AS waits" in sql else []
