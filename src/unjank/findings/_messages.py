"""Reads the messages of loopers, category `mq`: who posted what from where, when it was due, when it ran."""

import re
from collections import defaultdict
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field

from unjank.findings._columns import number, text
from unjank.findings._processes import ProcessTable
from unjank.findings._queryable import Queryable
from unjank.findings._slice_name import Site
from unjank.findings._threads import Thread, ThreadTable

_DISPATCH_SQL = """
SELECT
  s.ts, s.dur, tt.utid,
  EXTRACT_ARG(s.arg_set_id, 'debug.looper') AS looper,
  EXTRACT_ARG(s.arg_set_id, 'debug.delay_ns') AS delay,
  EXTRACT_ARG(s.arg_set_id, 'debug.callback') AS callback
FROM slice s JOIN thread_track tt ON s.track_id = tt.id
WHERE s.category = 'mq' AND s.name GLOB 'dispatch *'
ORDER BY s.ts, s.id
"""

_POST_SQL = """
SELECT
  s.ts, tt.utid, flow.slice_in IS NOT NULL AS ran,
  EXTRACT_ARG(s.arg_set_id, 'debug.looper') AS looper,
  EXTRACT_ARG(s.arg_set_id, 'debug.looper_tid') AS looper_tid,
  EXTRACT_ARG(s.arg_set_id, 'debug.due_in_ns') AS due_in,
  EXTRACT_ARG(s.arg_set_id, 'debug.site') AS site
FROM slice s
JOIN thread_track tt ON s.track_id = tt.id
LEFT JOIN flow ON flow.slice_out = s.id
WHERE s.category = 'mq' AND s.name GLOB 'post *'
ORDER BY s.ts, s.id
"""

# Android's own category mq: an instant at the sender, a flow from there to the slice in which it runs.
_ANDROID_SQL = """
SELECT
  send.ts, sender.utid,
  EXTRACT_ARG(send.arg_set_id, 'message_queue.receiving_thread_name') AS receiver,
  EXTRACT_ARG(send.arg_set_id, 'message_queue.message_code') AS code,
  EXTRACT_ARG(send.arg_set_id, 'message_queue.message_delay_ms') AS delay_ms,
  run.ts AS run_ts, run.dur AS run_dur, looper.utid AS looper_utid
FROM slice send
JOIN thread_track sender ON send.track_id = sender.id
LEFT JOIN flow ON flow.slice_out = send.id
LEFT JOIN slice run ON run.id = flow.slice_in
LEFT JOIN thread_track looper ON run.track_id = looper.id
WHERE send.category = 'mq' AND EXTRACT_ARG(send.arg_set_id, 'message_queue.receiving_thread_name') IS NOT NULL
ORDER BY send.ts, send.id
"""

_LEFT_SQL = """
SELECT name, upid, value FROM (
  SELECT
    track.name, COALESCE(thread.upid, process.upid) AS upid, counter.value,
    ROW_NUMBER() OVER (PARTITION BY counter.track_id ORDER BY counter.ts DESC, counter.id DESC) AS age
  FROM counter
  JOIN counter_track track ON track.id = counter.track_id
  LEFT JOIN thread_counter_track of_thread ON of_thread.id = track.id
  LEFT JOIN thread USING (utid)
  LEFT JOIN process_counter_track process ON process.id = track.id
  WHERE track.name GLOB 'messages pending (looper *)'
) WHERE age = 1
"""
_NS_PER_MS = 1_000_000
_LOOPER_NAME = re.compile(r"messages pending \(looper ([0-9]{1,9})\)")


@dataclass(frozen=True, slots=True)
class Dispatch:
    """A message that ran. `due`, `start` and `end` are times of the trace, ns."""

    due: int
    start: int
    end: int
    callback: str | None


@dataclass(frozen=True, slots=True)
class Post:
    """A message that was posted, due at `due`; `ran` if the trace has its dispatch."""

    poster: Thread
    site: Site | None
    due: int
    ran: bool


@dataclass
class LooperMessages:
    """The messages of one looper.

    Attributes:
        thread: The thread it is of, None if the trace does not tell.
        dispatches: In order of their begin.
        posts: In order of posting.
        left: Messages in the queue at the end of the trace, due or not.
    """

    thread: Thread | None = None
    dispatches: list[Dispatch] = field(default_factory=list)
    posts: list[Post] = field(default_factory=list)
    left: int = 0

    def never_ran(self, trace_end: int) -> list[Post]:
        """Messages that were due and still in the queue at the end, by due time.

        A post without a dispatch may have been removed. So many as the queue held count, the latest ones.
        """
        waiting = sorted((post for post in self.posts if not post.ran and post.due < trace_end), key=_due)
        return waiting[-self.left :] if self.left else []


def read_messages(
    tp: Queryable, threads: ThreadTable, processes: ProcessTable, trace_end: int
) -> list[LooperMessages]:
    """The messages of each looper. Messages on virtual clocks have no delay, and are left out."""
    loopers: dict[Hashable, LooperMessages] = defaultdict(LooperMessages)
    _read_dispatches(tp, threads, trace_end, loopers)
    _read_posts(tp, threads, loopers)
    _read_android(tp, threads, trace_end, loopers)
    for key, left in _read_left(tp, processes):
        if key in loopers:
            loopers[key].left = left
    return list(loopers.values())


def _read_dispatches(
    tp: Queryable, threads: ThreadTable, trace_end: int, loopers: dict[Hashable, LooperMessages]
) -> None:
    for row in tp.query(_DISPATCH_SQL):
        delay = number(row.delay)
        if delay is None:
            continue
        thread = threads[row.utid]
        looper = loopers[thread.upid, number(row.looper)]
        looper.thread = thread
        end = max(row.ts, trace_end) if row.dur < 0 else row.ts + row.dur
        looper.dispatches.append(Dispatch(row.ts - delay, row.ts, end, text(row.callback)))


def _read_posts(tp: Queryable, threads: ThreadTable, loopers: dict[Hashable, LooperMessages]) -> None:
    for row in tp.query(_POST_SQL):
        due_in = number(row.due_in)
        if due_in is None:
            continue
        poster = threads[row.utid]
        looper = loopers[poster.upid, number(row.looper)]
        looper.thread = looper.thread or threads.with_tid(poster.upid, number(row.looper_tid), row.ts)
        site = Site.parse(text(row.site) or "")
        looper.posts.append(Post(poster, site, row.ts + due_in, bool(row.ran)))


def _read_android(
    tp: Queryable, threads: ThreadTable, trace_end: int, loopers: dict[Hashable, LooperMessages]
) -> None:
    """Reads Android's messages; its loopers have no number, so the thread stands for it."""
    for row in tp.query(_ANDROID_SQL):
        poster = threads[row.utid]
        due = row.ts + (number(row.delay_ms) or 0) * _NS_PER_MS
        ran = row.looper_utid is not None
        thread = threads[row.looper_utid] if ran else threads.named(poster.upid, str(row.receiver), row.ts)
        if thread is None:
            continue
        looper = loopers["android", thread.utid]
        looper.thread = thread
        looper.posts.append(Post(poster, None, due, ran))
        if ran:
            end = max(row.run_ts, trace_end) if row.run_dur < 0 else row.run_ts + row.run_dur
            code = number(row.code)
            looper.dispatches.append(Dispatch(due, row.run_ts, end, None if code is None else f"#{code}"))
    for key, looper in loopers.items():
        if isinstance(key, tuple) and key[0] == "android":
            looper.dispatches.sort(key=lambda message: message.start)


def _read_left(tp: Queryable, processes: ProcessTable) -> Iterator[tuple[Hashable, int]]:
    for row in tp.query(_LEFT_SQL):
        found = _LOOPER_NAME.fullmatch(str(row.name))
        if found:
            yield (processes.canonical(row.upid), int(found[1])), int(row.value)


def _due(post: Post) -> int:
    return post.due
