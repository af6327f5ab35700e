"""Reads the waits for monitors that are in a trace as logcat entries only."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from unjank.findings._contention import Contention
from unjank.findings._log_wording import SAMPLE_TAG, LoggedWait, parse_log
from unjank.findings._queryable import Queryable
from unjank.findings._threads import Thread, ThreadTable

_SQL = """
SELECT ts, utid, tag, msg FROM android_logs
WHERE utid IS NOT NULL AND (tag = 'dvm_lock_sample' OR msg GLOB 'Long monitor contention *')
ORDER BY ts
"""
_SAME = 0.5  # of the shorter of two waits: a thread waits for one lock at a time


def read_logged(tp: Queryable, threads: ThreadTable, slices: Sequence[Contention]) -> Iterator[Contention]:
    """Yields the waits that logcat tells and slices do not, by start.

    ART may tell one wait three times: as a slice, as a text that names the owner, and as a sample for the
    event log. The slice counts, else the text. The length is ART's, so a wait may begin before the trace.
    """
    texts: list[Contention] = []
    samples: list[Contention] = []
    for row in tp.query(_SQL):
        wait = parse_log(row.tag, row.msg)
        if wait:
            told = _contention(wait, threads[row.utid], row.ts, threads)
            (samples if row.tag == SAMPLE_TAG else texts).append(told)
    known, sampled = _Index(slices), _Index(samples)
    texts = [_completed(text, sampled) for text in texts if not known.same(text)]
    told_better = _Index((*slices, *texts))
    yield from sorted(
        (*texts, *(sample for sample in samples if not told_better.same(sample))), key=lambda wait: wait.start
    )


def _contention(wait: LoggedWait, waiter: Thread, end: int, threads: ThreadTable) -> Contention:
    owner = threads.with_tid(waiter.upid, wait.owner_tid, end)
    if owner is None and wait.owner:
        owner = threads.named(waiter.upid, wait.owner, end)
    return Contention(
        waiter=waiter,
        owner=owner,
        owner_name=wait.owner,
        start=end - wait.dur,
        end=end,
        is_open=False,
        waiter_site=wait.waiter_site,
        owner_site=wait.owner_site,
        waiters=wait.waiters,
        is_logged=True,
    )


def _completed(text: Contention, samples: "_Index") -> Contention:
    """Gives a text the waiter's file and line, which only the sample of the same wait has."""
    same = samples.same(text)
    return replace(text, waiter_site=same.waiter_site) if same and same.waiter_site else text


class _Index:
    """Waits by thread. A thread's waits do not overlap, but for the rounding of their lengths."""

    def __init__(self, waits: Iterable[Contention]) -> None:
        self._by_thread: dict[int, list[Contention]] = defaultdict(list)
        for wait in sorted(waits, key=lambda wait: wait.end):
            self._by_thread[wait.waiter.utid].append(wait)

    def same(self, wait: Contention) -> Contention | None:
        """The wait that `wait` is another report of; None if there is none."""
        waits = self._by_thread.get(wait.waiter.utid, [])
        first = bisect_right(waits, wait.start, key=lambda other: other.end)
        for other in waits[first:]:
            if wait.overlap(other) > _SAME * min(wait.dur, other.dur):
                return other
            if other.start >= wait.end:
                break
        return None
