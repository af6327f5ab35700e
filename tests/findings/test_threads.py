"""Threads and processes that the recorder and the kernel both tell of."""

from tests.findings.builder import MS, Run, Thread, TraceBuilder
from tests.findings.conftest import Find, Load

from unjank.findings import Evidence


def test_thread_told_twice_is_one(find: Find, load: Load) -> None:
    """A thread that the kernel announces after the recorder named it keeps its name and its scheduling."""
    trace = TraceBuilder()
    main, ui, owner, other = (
        trace.thread(100, tid, name)
        for tid, name in ((100, "main"), (101, "UI thread"), (102, "BackgroundExecutor"), (103, "camera"))
    )
    trace.new_task(5 * MS, main, owner)
    trace.contention(ui, owner, 10 * MS, 20 * MS)
    trace.schedule(
        0,
        [
            Run(owner, 9 * MS, 11 * MS, "R+", 130),
            Run(other, 11 * MS, 19 * MS),
            Run(owner, 19 * MS, 20 * MS, "S", 130),
        ],
    )
    engine = [row.utid for row in load(trace).query("SELECT utid FROM thread WHERE tid = 102")]
    assert len(engine) == 2
    inversion, wait = find(trace).findings
    assert (inversion.kind, inversion.owner, inversion.detail["held_off_ns"]) == (
        "priority-inversion",
        "BackgroundExecutor",
        8 * MS,
    )
    assert wait.detail["owner_tid"] == 102


def test_reused_thread_id(load: Load) -> None:
    """Of two threads that had one id after the other, the one alive at the wait is its owner."""
    trace = TraceBuilder()
    main, waiter = trace.thread(100, 100, "main"), trace.thread(100, 101, "waiter")
    owner = Thread(100, 102, "pool")  # only the kernel tells of it
    for start in (10, 50):
        trace.new_task(start * MS, main, owner)
        trace.schedule(0, [Run(owner, (start + 1) * MS, (start + 8) * MS)])
        trace.contention(waiter, owner, (start + 2) * MS, (start + 5) * MS)
    first, second = (wait.owner for wait in Evidence(load(trace)).contentions)
    assert first is not None
    assert second is not None
    assert (first.tid, second.tid) == (102, 102)
    assert first.utids != second.utids
    assert (first.born, second.born) == (10 * MS, 50 * MS)


def test_process_is_called_by_its_program(find: Find) -> None:
    """The kernel knows a recorded program as its interpreter; people know it by its file."""
    trace = TraceBuilder()
    trace.process(100, "launcher.py")
    trace.process_tree(100, "/usr/bin/python3", "-m", "child")
    waiter, owner = trace.thread(100, 101, "waiter"), trace.thread(100, 102, "owner")
    trace.session(100, sched="off", argv="'/home/me/my apps/launcher.py' --fast")
    trace.contention(waiter, owner, 10 * MS, 20 * MS)
    assert [finding.process for finding in find(trace).findings] == ["launcher.py"]


def test_unreadable_command_line(find: Find) -> None:
    """A command line that no shell would take leaves the process its name."""
    trace = TraceBuilder()
    trace.process(100, "launcher.py")
    waiter, owner = trace.thread(100, 101, "waiter"), trace.thread(100, 102, "owner")
    trace.session(100, sched="off", argv="'never closed")
    trace.contention(waiter, owner, 10 * MS, 20 * MS)
    assert [finding.process for finding in find(trace).findings] == ["launcher.py"]


def test_nameless_thread_and_process(find: Find) -> None:
    """What has no name goes by its number."""
    trace = TraceBuilder()
    trace.process(100, "")
    waiter, owner = trace.thread(100, 101, ""), trace.thread(100, 102, "owner")
    trace.contention(waiter, owner, 10 * MS, 20 * MS)
    assert [(f.process, f.thread) for f in find(trace).findings] == [("process 100", "thread 101")]
