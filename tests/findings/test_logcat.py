"""Waits that a trace has as logcat entries: they count once, however often they are told."""

from pathlib import Path

from tests.findings.builder import MS, TraceBuilder
from tests.findings.conftest import Find, Load

from unjank.findings import sql_of

SITE = "void a.Cache.put(int, long)(Cache.java:20)"


def text(milliseconds: int, owner: str = "bg (109)") -> str:
    """ART's text on a wait."""
    return (
        f"Long monitor contention with owner {owner} at {SITE} waiters=0 in int a.Cache.get() "
        f"for {milliseconds}ms"
    )


def sample(milliseconds: int) -> dict[str, int | str]:
    """ART's sample for the event log, under the names that Perfetto knows."""
    return {
        "process": "com.example",
        "main": 1,
        "thread": "main",
        "time": milliseconds,
        "file": "Cache.java",
        "line": 31,
        "ownerfile": "int a.Cache.get()",
        "ownerline": "-",
        "sample_percent": 20,
    }


def android() -> TraceBuilder:
    """A process with a main thread and a thread `bg`."""
    trace = TraceBuilder()
    trace.process(100, "com.example")
    trace.thread(100, 100, "main")
    trace.thread(100, 109, "bg")
    return trace


def test_text_and_sample_of_one_wait(find: Find) -> None:
    """Text and sample are one wait: the owner from the text, the waiter's line from the sample."""
    trace = android()
    main = trace.thread(100, 100, "main")
    trace.log(main, 500 * MS, text(140))
    trace.log(main, 500 * MS + 400_000, "", tag="dvm_lock_sample", fields=sample(140))
    found = find(trace)
    (finding,) = found.findings
    assert (finding.count, finding.dur_ns, finding.ts_ns) == (1, 140 * MS, 360 * MS)
    assert (finding.owner, finding.detail["owner_tid"]) == ("bg", 109)
    assert finding.where == "a.Cache.get() (Cache.java:31)"
    assert finding.owner_where == "a.Cache.put() (Cache.java:20)"
    assert any("1 of 1 waits are told by logcat alone" in note for note in found.notes)


def test_slice_wins(find: Find) -> None:
    """A wait that is a slice too is counted as the slice, to the nanosecond."""
    trace = android()
    main = trace.thread(100, 100, "main")
    places = f"at {SITE} waiters=0 blocking from int a.Cache.get()(Cache.java:31)"
    name = f"monitor contention with owner bg (109) {places}"
    trace.slice(main, name, 360 * MS, 500 * MS - 7)
    trace.log(main, 500 * MS, text(140))
    trace.log(main, 501 * MS, "", tag="dvm_lock_sample", fields=sample(140))
    found = find(trace)
    (finding,) = found.findings
    assert (finding.count, finding.dur_ns) == (1, 140 * MS - 7)
    assert not any("logcat" in note for note in found.notes)


def test_waits_one_after_the_other(find: Find) -> None:
    """Two waits of one thread in a row are two, and those of two threads at once are two."""
    trace = android()
    main, bg = trace.thread(100, 100, "main"), trace.thread(100, 109, "bg")
    trace.log(main, 500 * MS, text(140))
    trace.log(main, 650 * MS, text(150))
    trace.log(bg, 650 * MS, text(150, "other (110)"))
    assert sum(finding.count for finding in find(trace).findings) == 3


def test_sample_alone_has_no_owner(find: Find) -> None:
    """A sample does not name the owner: it is null, and the place where it took the monitor is told."""
    trace = android()
    trace.log(trace.thread(100, 100, "main"), 500 * MS, "", tag="dvm_lock_sample", fields=sample(20))
    (finding,) = find(trace).findings
    assert (finding.owner, finding.owner_where) == (None, "Cache.java:20")
    assert finding.detail["summary"] == (
        "main (com.example) waited 20 ms in Cache.get() (Cache.java:31) for a monitor, held in Cache.java:20."
    )


def test_wait_that_began_before_the_trace(find: Find) -> None:
    """ART knows the whole length of a wait, also where the trace has its end only."""
    trace = android()
    trace.log(trace.thread(100, 100, "main"), 50 * MS, text(140))
    (finding,) = find(trace).findings
    assert (finding.ts_ns, finding.dur_ns) == (-90 * MS, 140 * MS)


def test_jank_trace(find: Find, traces_dir: Path) -> None:
    """A real trace without contention slices: seven waits from eight entries, an inversion among them."""
    found = find(traces_dir / "android_jank_cpu_sampling.pftrace").findings
    waits = [finding for finding in found if finding.kind == "lock-contention"]
    assert sorted(finding.dur_ns // MS for finding in waits) == [9, 11, 15, 40, 47, 140, 173]
    (longest_known,) = [finding for finding in waits if finding.owner]
    assert (longest_known.thread, longest_known.owner, longest_known.where) == (
        "VolumeDialogCon",
        "main",
        "android.os.MessageQueue.next() (MessageQueue.java:337)",
    )
    (inversion,) = [finding for finding in found if finding.kind == "priority-inversion"]
    assert (inversion.detail["held_off_ns"], inversion.detail["owner_ran_ns"]) == (139_211_500, 788_500)


def test_sql_tells_the_same(load: Load, find: Find, traces_dir: Path) -> None:
    """The SQL behind the finding counts the logged waits as the rule does."""
    path = traces_dir / "android_jank_cpu_sampling.pftrace"
    rows = load(path).rows(sql_of("lock-contention"))
    assert sum(int(str(row["count"])) for row in rows) == 7
    assert sum(int(str(row["total_ns"])) for row in rows) == 435 * MS
    found = [finding for finding in find(path).findings if finding.kind == "lock-contention"]
    assert sum(int(str(finding.detail["total_ns"])) for finding in found) == 435 * MS
