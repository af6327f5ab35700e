"""Contention slices of Android, whose locks have no names and whose owners have to be found."""

from tests.findings.builder import MS, TraceBuilder
from tests.findings.conftest import Find, Load

from unjank.findings import Evidence

OWNER_SITE = "boolean android.os.MessageQueue.enqueueMessage(android.os.Message, long)(MessageQueue.java:563)"
WAITER_SITE = "android.os.Message android.os.MessageQueue.next()(MessageQueue.java:335)"
PREFIX = "monitor contention with owner"


def android(*slices: str) -> TraceBuilder:
    """A process whose main thread waits 2 ms in each slice."""
    trace = TraceBuilder()
    trace.process(100, "com.example")
    main = trace.thread(100, 100, "main")
    trace.thread(100, 109, "bg-thread")
    for index, name in enumerate(slices):
        trace.slice(main, name, index * 10 * MS, (index * 10 + 2) * MS)
    return trace


def test_lock_without_name_is_known_by_owner_site(find: Find) -> None:
    """Waits for a monitor are counted together by the place where its owner took it."""
    full = f"{PREFIX} bg-thread (12) at {OWNER_SITE} waiters=0 blocking from {WAITER_SITE}"
    (finding,) = find(android(full, full.replace("waiters=0", "waiters=2"))).findings
    assert (finding.count, finding.detail["total_ns"], finding.thread) == (2, 4_000_000, "main")
    assert finding.detail["lock_known"] is False
    assert finding.detail["lock"] == (
        "the monitor taken in android.os.MessageQueue.enqueueMessage() (MessageQueue.java:563)"
    )
    assert finding.where == "android.os.MessageQueue.next() (MessageQueue.java:335)"
    assert "SDK 37" in finding.advice


def test_without_owner_method(find: Find) -> None:
    """The wording that Perfetto's table drops is counted too."""
    (finding,) = find(android(f"{PREFIX} bg-thread (12) waiters=0 blocking from {WAITER_SITE}")).findings
    assert (finding.owner, finding.owner_where, finding.dur_ns) == ("bg-thread", None, 2_000_000)
    assert finding.detail["lock"] == (
        "the monitor wanted in android.os.MessageQueue.next() (MessageQueue.java:335)"
    )


def test_without_thread_id(find: Find) -> None:
    """Older Android gives the owner's name only; the thread is found by it."""
    (finding,) = find(
        android(f"{PREFIX} bg-thread at {OWNER_SITE} waiters=0 blocking from {WAITER_SITE}")
    ).findings
    assert (finding.owner, finding.detail["owner_tid"]) == ("bg-thread", 109)


def test_long_java_name_is_found_by_the_kernels_short_one(load: Load) -> None:
    """The kernel keeps 15 characters of a name, ART the last ones."""
    trace = android(f"{PREFIX} NetworkPolicy.uid (12) waiters=0 blocking from {WAITER_SITE}")
    trace.thread(100, 110, "tworkPolicy.uid")
    (wait,) = Evidence(load(trace)).contentions
    assert wait.owner is not None
    assert (wait.owner.tid, wait.owner_name) == (110, "NetworkPolicy.uid")


def test_native_slice_inside_tells_the_owner(load: Load) -> None:
    """ART's nested slice of the native mutex has the kernel's thread id, which wins over the name."""
    trace = android()
    main = trace.thread(100, 100, "main")
    trace.thread(100, 111, "bg-thread")
    name = f"{PREFIX} bg-thread (12) at {OWNER_SITE} waiters=0 blocking from {WAITER_SITE}"
    trace.slice(main, name, 1 * MS, None)
    trace.slice(main, "Lock contention on a monitor lock (owner tid: 111)", 1 * MS + 5, 2 * MS)
    (wait,) = Evidence(load(trace)).contentions
    assert wait.owner is not None
    assert wait.owner.tid == 111


def test_ambiguous_owner_is_not_guessed(find: Find, load: Load) -> None:
    """Of two threads with the owner's name none is taken, and a note says that the owner is not known."""
    trace = android(f"{PREFIX} bg-thread (12) waiters=0 blocking from {WAITER_SITE}")
    trace.thread(100, 111, "bg-thread")
    (wait,) = Evidence(load(trace)).contentions
    assert wait.owner is None
    assert any(note.startswith("For 1 of 1 waits the trace does not tell") for note in find(trace).notes)


def test_runtime_locks_are_noted(find: Find) -> None:
    """Waits for ART's own locks are no findings, but are told."""
    found = find(android("Lock contention on thread list lock (owner tid: 109)"))
    assert found.findings == ()
    assert (
        "1 waits for locks inside the Android runtime itself are left out; the longest took 2 ms."
        in found.notes
    )
