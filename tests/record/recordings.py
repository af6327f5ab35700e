"""Runs small programs under the recorder and reads what they left."""

import subprocess
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unjank import TraceProcessor

UNJANK = str(Path(sys.executable).parent / "unjank")

PREAMBLE = '''
import threading, time, queue, os, sys, signal
from unjank import _record

def until_waited(lock, waiters=1):
    """Returns once threads wait for the lock: polled, so that no order depends on a time."""
    while _record.waiters(lock) < waiters:
        time.sleep(0.0005)

def run_threads(*functions):
    threads = [threading.Thread(target=f, name=f.__name__) for f in functions]
    for t in threads: t.start()
    for t in threads: t.join()
'''

_SLICES = """
select s.ts, s.dur, s.name, s.category, t.name as thread, t.tid, p.name as process, p.pid,
  s.arg_set_id as arg_set_id
from slice s join thread_track tt on s.track_id = tt.id join thread t using (utid)
left join process p using (upid) order by s.ts
"""
_INSTANTS = """
select s.ts, s.dur, s.name, s.category, '' as thread, 0 as tid, p.name as process, p.pid,
  s.arg_set_id as arg_set_id
from slice s join process_track pt on s.track_id = pt.id left join process p using (upid) order by s.ts
"""


@dataclass(frozen=True)
class Slice:
    """One slice of a recording with its arguments."""

    ts: int
    dur: int
    name: str
    category: str
    thread: str
    tid: int
    process: str
    pid: int
    args: dict[str, Any]


@dataclass(frozen=True)
class Recorded:
    """What a program printed and what was recorded of it."""

    exit_code: int
    stdout: str
    stderr: str
    slices: Sequence[Slice]

    def named(self, prefix: str) -> list[Slice]:
        """The slices whose name starts so."""
        return [piece for piece in self.slices if piece.name.startswith(prefix)]

    def contentions_of(self, lock: str) -> list[Slice]:
        """The contended acquires of the lock with this variable's name."""
        return [piece for piece in self.contentions if piece.args["lock"].startswith(f"{lock} (")]

    @property
    def contentions(self) -> list[Slice]:
        """The contended acquires."""
        return self.named("monitor contention")


def read_slices(trace: Path) -> list[Slice]:
    """All slices on thread and process tracks, in order of their begin."""
    with TraceProcessor(trace) as tp:
        args: dict[int, dict[str, Any]] = {}
        for row in tp.query("select arg_set_id, key, coalesce(int_value, string_value) as value from args"):
            args.setdefault(row.arg_set_id, {})[row.key.removeprefix("debug.")] = row.value
        rows = [*tp.query(_SLICES), *tp.query(_INSTANTS)]
        return [
            Slice(
                r.ts, r.dur, r.name, r.category, r.thread, r.tid, r.process, r.pid, args.get(r.arg_set_id, {})
            )
            for r in rows
        ]


def write_program(folder: Path, source: str, name: str = "prog.py") -> Path:
    """A script of the preamble and the source."""
    script = folder / name
    script.write_text(PREAMBLE + textwrap.dedent(source))
    return script


def record_program(
    folder: Path, source: str, *arguments: str, sched: str = "off", stdin: str | None = None
) -> Recorded:
    """Writes the source into a script, runs it under `unjank run`, reads the trace."""
    script = write_program(folder, source)
    return record_command(folder, str(script), *arguments, sched=sched, stdin=stdin)


def record_command(
    folder: Path, *command: str, sched: str = "off", stdin: str | None = None, trace: Path | None = None
) -> Recorded:
    """Runs `unjank run` with this program and arguments in the folder, reads the trace."""
    output = trace or folder / "out.pftrace"
    done = subprocess.run(
        [UNJANK, "run", "-o", str(output), "--sched", sched, *command],
        cwd=folder,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    sys.stderr.write(done.stderr)  # pytest shows it with a failure
    slices = read_slices(output) if output.is_file() and output.stat().st_size else []
    return Recorded(done.returncode, done.stdout, done.stderr, slices)
