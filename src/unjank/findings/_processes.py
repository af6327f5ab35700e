"""The processes of a trace, by the names that people know them by."""

import shlex
from collections.abc import Collection, Iterable
from pathlib import PurePath

from unjank.findings._queryable import Queryable

_SQL = "SELECT upid, pid, name, parent_upid FROM process ORDER BY upid"
# The kernel calls a recorded program by its interpreter; the recorder knows what was run.
_PROGRAM_SQL = """
SELECT pt.upid, EXTRACT_ARG(s.arg_set_id, 'debug.argv') AS argv
FROM slice s JOIN process_track pt ON s.track_id = pt.id
WHERE s.name = 'session' AND s.category = 'unjank'
"""


class ProcessTable:
    """All processes. One that the engine counts twice, for the recorder and for the kernel, is one here."""

    def __init__(self, tp: Queryable) -> None:
        rows = list(tp.query(_SQL))
        first: dict[int, int] = {}
        for row in rows:
            first.setdefault(row.pid, row.upid)
        self._canonical = {row.upid: first[row.pid] if row.pid else row.upid for row in rows}
        self._names: dict[int, str] = {}
        for row in rows:
            if name := row.name or (None if row.pid is None else f"process {row.pid}"):
                self._names.setdefault(self._canonical[row.upid], name)
        self._names |= {self._canonical[upid]: name for upid, name in _programs(tp)}
        self._parents = {
            self._canonical[row.upid]: self._canonical.get(row.parent_upid, row.parent_upid)
            for row in rows
            if row.parent_upid is not None
        }

    def canonical(self, upid: int | None) -> int | None:
        """The id under which a process is known here; the same for all ids of one process id."""
        return None if upid is None else self._canonical.get(upid, upid)

    def descends(self, upid: int | None, ancestors: Collection[int]) -> bool:
        """Whether a process is one of these (canonical ids) or was started by one, also through others."""
        seen: set[int] = set()
        while upid is not None and upid not in seen:
            if upid in ancestors:
                return True
            seen.add(upid)
            upid = self._parents.get(upid)
        return False

    def name(self, upid: int | None) -> str | None:
        """The name of a process, `process PID` if it has none; None if there is no such process."""
        found = self.canonical(upid)
        return None if found is None else self._names.get(found)


def _programs(tp: Queryable) -> Iterable[tuple[int, str]]:
    """The recorded programs by process: the file's name, as the command line has it."""
    for row in tp.query(_PROGRAM_SQL):
        words = _split(row.argv) if isinstance(row.argv, str) else []
        if words and (name := PurePath(words[0]).name):
            yield row.upid, name


def _split(command_line: str) -> list[str]:
    try:
        return shlex.split(command_line)
    except ValueError:
        return []  # an unclosed quote: not a command line that the recorder wrote
