"""What a scan says of calls and updaters: direct where all is proven, else the reason."""

from pathlib import Path

import pytest
from tests.jvm.conftest import Compile, make_jar

from unjank.jvm import Decision, Outcome, Reason, ScanResult, scan_archive

COUNTER = """
package p;
import java.util.concurrent.atomic.*;
public class Counter {
    volatile int count;
    volatile Object state;
    volatile Runnable task;
    volatile Thread thread;
    int plain;
    static volatile int shared;
    private static final AtomicIntegerFieldUpdater<Counter> COUNT =
        AtomicIntegerFieldUpdater.newUpdater(Counter.class, "count");
    private static final AtomicReferenceFieldUpdater<Counter, Object> STATE =
        AtomicReferenceFieldUpdater.newUpdater(Counter.class, Object.class, "state");
    private static final AtomicReferenceFieldUpdater<Counter, Runnable> TASK =
        AtomicReferenceFieldUpdater.newUpdater(Counter.class, Runnable.class, "task");
    private static final AtomicReferenceFieldUpdater<Counter, Thread> THREAD =
        AtomicReferenceFieldUpdater.newUpdater(Counter.class, Thread.class, "thread");
    static final AtomicIntegerFieldUpdater<Counter> OPEN =
        AtomicIntegerFieldUpdater.newUpdater(Counter.class, "count");
    private static final String NAME = System.getProperty("no.such.property", "count");
    private static final AtomicIntegerFieldUpdater<Counter> NAMED =
        AtomicIntegerFieldUpdater.newUpdater(Counter.class, NAME);
    private static final AtomicIntegerFieldUpdater<Counter> LEAKED =
        AtomicIntegerFieldUpdater.newUpdater(Counter.class, "count");
    static AtomicIntegerFieldUpdater<Counter> changing =
        AtomicIntegerFieldUpdater.newUpdater(Counter.class, "count");
    final AtomicIntegerFieldUpdater<Counter> own =
        AtomicIntegerFieldUpdater.newUpdater(Counter.class, "count");

    int next() { return COUNT.incrementAndGet(this); }
    boolean swap(Object a, Object b) { return STATE.compareAndSet(this, a, b); }
    static void task(Counter c, Runnable r) { TASK.set(c, r); }
    void thread(Thread t) { THREAD.lazySet(this, t); }
    int viaLocal(boolean b) {
        AtomicIntegerFieldUpdater<Counter> u = COUNT;
        return u.getAndAdd(this, b ? 1 : 2);
    }
    int open() { return OPEN.get(this); }
    int named() { return NAMED.get(this); }
    int changing() { return changing.get(this); }
    int own() { return own.get(this); }
    static int given(AtomicIntegerFieldUpdater<Counter> u, Counter c) { return u.get(c); }
    int leaked() { return given(LEAKED, this) + LEAKED.get(this); }
    int either(boolean b) { return (b ? COUNT : OPEN).get(this); }
    @SuppressWarnings({"unchecked", "rawtypes"})
    static int any(Object holder) { return ((AtomicIntegerFieldUpdater) COUNT).get(holder); }
    @SuppressWarnings({"unchecked", "rawtypes"})
    void wrong(Object value) { ((AtomicReferenceFieldUpdater) THREAD).set(this, value); }
    static class Sub extends Counter {
        int sub() { return OPEN.get(this); }
        static int sub(Sub s) { return OPEN.get(s); }
    }
}
"""


@pytest.fixture(scope="module")
def counter(compile_java: Compile, tmp_path_factory: pytest.TempPathFactory) -> ScanResult:
    """A class with one call per question."""
    classes = compile_java({"p/Counter.java": COUNTER})
    return scan_archive(make_jar(tmp_path_factory.mktemp("jar") / "counter.jar", classes))


@pytest.mark.parametrize(
    ("method", "reason"),
    [
        ("next", Reason.PROVEN),
        ("swap", Reason.PROVEN),
        ("task", Reason.CHECKED_VALUE),
        ("thread", Reason.PROVEN),
        ("viaLocal", Reason.PROVEN),
        ("open", Reason.PROVEN),
        ("sub", Reason.PROVEN),
        ("named", Reason.NOT_CONSTANT),
        ("changing", Reason.NOT_STATIC_FINAL),
        ("own", Reason.RECEIVER_NOT_STATIC),
        ("given", Reason.RECEIVER_UNKNOWN),
        ("leaked", Reason.PROVEN),
        ("either", Reason.RECEIVER_MIXED),
        ("any", Reason.HOLDER_NOT_PROVEN),
        ("wrong", Reason.VALUE_NOT_PROVEN),
    ],
)
def test_each_call_has_its_decision(counter: ScanResult, method: str, reason: Reason) -> None:
    """Direct if updater, holder and value are proven; otherwise kept, with the reason."""
    found = [site for site in counter.sites if site.method.partition("(")[0] == method]
    assert {site.reason for site in found} == {reason}
    direct = reason in (Reason.PROVEN, Reason.CHECKED_VALUE)
    assert {site.decision for site in found} == {Decision.DIRECT if direct else Decision.KEPT}


def test_updaters_have_their_outcome(counter: ScanResult) -> None:
    """Gone only if private and served by direct calls alone; what is read otherwise stays."""
    outcomes = {updater.name.rpartition(".")[2]: updater.outcome for updater in counter.updaters}
    assert outcomes == {
        "COUNT": Outcome.COMPANION,  # `either` and `any` still need it
        "STATE": Outcome.REMOVED,
        "TASK": Outcome.REMOVED,
        "THREAD": Outcome.COMPANION,  # `wrong` needs it
        "OPEN": Outcome.COMPANION,  # not private
        "NAMED": Outcome.KEPT,
        "LEAKED": Outcome.COMPANION,  # passed on
        "changing": Outcome.KEPT,
        "own": Outcome.KEPT,
    }


def test_a_folder_is_scanned_like_a_jar(compile_java: Compile, counter: ScanResult) -> None:
    """Class files below a folder are one program."""
    found = scan_archive(compile_java({"p/Counter.java": COUNTER}))
    assert [(s.method, s.offset, s.reason) for s in found.sites] == [
        (s.method, s.offset, s.reason) for s in counter.sites
    ]


def test_an_archive_that_is_none_is_named(tmp_path: Path) -> None:
    """One line: which file, and what it is not."""
    path = tmp_path / "not.jar"
    path.write_bytes(b"hello")
    with pytest.raises(Exception, match=r"not\.jar: this is no zip archive"):
        scan_archive(path)
