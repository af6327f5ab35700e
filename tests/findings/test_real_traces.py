"""Traces recorded by others: the numbers they are known for, and that none makes a rule fail."""

from collections import defaultdict
from pathlib import Path

import pytest
from tests.findings.conftest import Find, Load

from unjank.findings import Evidence, Finding
from unjank.findings._owner_time import owner_time

WITHOUT_CONTENTION = [
    "android_atrace_headerless.txt",
    "android_systrace_surfaceflinger.html",
    "art_method_streaming.trace.gz",
    "art_method_regular.trace.gz",
    "chrome_page_loads.pftrace",
    "chrome_simple.json",
    "chrome_simple.zip",
    "python_viztracer_multithread.json",
    "empty_systrace.html",
]

OWNER_STATES = """
WITH cut AS (
  SELECT state, MIN(ts + dur, {end}) - MAX(ts, {start}) AS dur FROM thread_state
  WHERE utid = {utid} AND ts < {end} AND ts + dur > {start}
)
SELECT
  SUM(IIF(state IN ('R', 'R+'), dur, 0)) AS held_off,
  SUM(IIF(state = 'Running', dur, 0)) AS ran
FROM cut
"""


def contentions(findings: tuple[Finding, ...]) -> list[Finding]:
    """The findings about waits for locks."""
    return [finding for finding in findings if finding.kind == "lock-contention"]


def test_api32_counts_every_slice(find: Find, api32_trace: Path) -> None:
    """All 111 contention slices are counted, with the two that Perfetto's table drops."""
    assert sum(finding.count for finding in contentions(find(api32_trace).findings)) == 111


def test_api32_slices_dropped_by_perfetto(load: Load, api32_trace: Path) -> None:
    """Perfetto's table has 109 rows; what it lacks are the slices without an owner method."""
    tp = load(api32_trace)
    include = "INCLUDE PERFETTO MODULE android.monitor_contention;"
    (row,) = tp.query(f"{include} SELECT COUNT() AS rows FROM android_monitor_contention")
    assert row.rows == 109
    assert sum(wait.owner_site is None for wait in Evidence(tp).contentions) == 2


def test_api32_message_queue_sums(find: Find, api32_trace: Path) -> None:
    """Main threads lost 399, 251 and 46 µs to MessageQueue: not the 0 ms that integer division gives."""
    sums: dict[str | None, int] = defaultdict(int)
    for finding in contentions(find(api32_trace).findings):
        waiters = finding.detail["waiters"]
        assert isinstance(waiters, list)
        if "MessageQueue" in str(finding.detail["lock"]) and waiters[0]["main"]:
            total = finding.detail["total_ns"]
            assert isinstance(total, int)
            sums[finding.process] += total
    assert sums == {
        "com.android.systemui": 398_723,
        "system_server": 251_261,
        "com.google.android.gms.persistent": 45_532,
    }


def test_api32_every_owner_is_found(load: Load, api32_trace: Path) -> None:
    """The owner of each wait is found as a thread of the trace."""
    assert all(wait.owner for wait in Evidence(load(api32_trace)).contentions)


def test_api32_owner_times_agree_with_sql(load: Load, api32_trace: Path) -> None:
    """The time each owner ran and was kept off the CPU is what plain SQL over all its states gives."""
    tp = load(api32_trace)
    evidence = Evidence(tp)
    for wait in evidence.contentions:
        time = owner_time(evidence, wait)
        assert time is not None
        assert wait.owner is not None
        numbers = {"utid": wait.owner.utid, "start": wait.start, "end": wait.end}
        (row,) = tp.query(OWNER_STATES.format(**numbers))
        assert (time.held_off, time.ran) == (row.held_off or 0, row.ran or 0)
        assert sum(rival.ran for rival in time.rivals) <= time.held_off


@pytest.mark.parametrize("name", WITHOUT_CONTENTION)
def test_no_contention_is_said(find: Find, traces_dir: Path, name: str) -> None:
    """A trace without contention gives no findings about locks and says that it cannot tell."""
    found = find(traces_dir / name)
    assert contentions(found.findings) == []
    assert any("no lock contention slices" in note for note in found.notes)
