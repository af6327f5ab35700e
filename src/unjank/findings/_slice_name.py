"""Parses ART's lock contention slices, in every wording that Android's versions and unjank's recorder use.

    monitor contention with owner NAME (TID) at RET METHOD(ARGS)(FILE:LINE) waiters=N blocking from RET …

` (TID)` is missing on older Android, ` at …` where ART could not walk the owner's stack, and the tail
where the writer cut the name at its size limit. Whatever follows the prefix gives a record.
"""

import re
from dataclasses import dataclass

PREFIX = "monitor contention with owner "

# ART cuts names at 1,024 characters; a limit keeps a hostile name from costing quadratic time.
_LONGEST = 4096
_TAIL = re.compile(r"(?P<waiters>[0-9]{1,9})(?: blocking from (?P<site>.*))?", re.DOTALL)
_SITE = r"(?:\S+ )?[^()\s]+\([^()]*\)\(.*:-?[0-9]{1,9}\)"
# Tried in order. The owner's name is greedy: it may hold brackets and " at ", a code location may not.
_HEADS = tuple(
    re.compile(pattern, re.DOTALL)
    for pattern in (
        r"(?P<owner>.*) \((?P<tid>[0-9]{1,18})\) at (?P<site>" + _SITE + ")",
        r"(?P<owner>.*) \((?P<tid>[0-9]{1,18})\)",
        r"(?P<owner>.*) at (?P<site>" + _SITE + ")",
        r"(?P<owner>.*?) \((?P<tid>[0-9]{1,18})\) at (?P<site>.*)",
        r"(?P<owner>.*)",
    )
)
_SITE_PARTS = re.compile(
    r"(?:\S+ )?(?P<method>[^()\s]+)\((?P<args>[^()]*)\)\((?P<file>.*):(?P<line>-?[0-9]{1,9})\)", re.DOTALL
)


@dataclass(frozen=True)
class Site:
    """A place in code.

    Attributes:
        method: Qualified name, without return type and arguments.
        file: File name as the trace has it, None if it does not.
        line: Line number, None if unknown.
    """

    method: str
    file: str | None = None
    line: int | None = None

    @classmethod
    def parse(cls, text: str) -> "Site | None":
        """Reads `RET METHOD(ARGS)(FILE:LINE)`; text cut short is kept as the method's name."""
        if not text or text == "null":
            return None
        parts = _SITE_PARTS.fullmatch(text)
        if parts is None:
            return cls(text)
        line = int(parts["line"])
        return cls(parts["method"], parts["file"] or None, line if line >= 0 else None)

    def __str__(self) -> str:
        if self.file is None:
            return self.method
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{self.method}() ({place})"


@dataclass(frozen=True)
class MonitorName:
    """The facts in the name of one contention slice.

    Attributes:
        owner: Name of the thread that held the lock when the wait began.
        owner_tid: Number in brackets after it: a kernel thread id in unjank's traces, ART's own
            thread number in most Android versions. None where the wording lacks it.
        owner_site: Where the owner took the lock.
        waiter_site: Where the waiter blocked.
        waiters: Number of threads that already waited, None where the name was cut.
    """

    owner: str
    owner_tid: int | None
    owner_site: Site | None
    waiter_site: Site | None
    waiters: int | None


def parse_monitor_name(name: str) -> MonitorName:
    """Parses a slice name that starts with `PREFIX`.

    Raises:
        ValueError: The name does not start so.
    """
    if not name.startswith(PREFIX):
        raise ValueError(f"not a lock contention slice: {name[:60]!r}")
    text, tail = _split_tail(name[len(PREFIX) : _LONGEST])
    groups = _match_head(text).groupdict()
    return MonitorName(
        owner=groups["owner"],
        owner_tid=int(groups["tid"]) if groups.get("tid") else None,
        owner_site=Site.parse(groups.get("site") or ""),
        waiter_site=Site.parse((tail["site"] or "") if tail else ""),
        waiters=int(tail["waiters"]) if tail else None,
    )


def _split_tail(text: str) -> tuple[str, re.Match[str] | None]:
    """Splits off ` waiters=…` at its last place: an owner's name may contain those words too."""
    head, _, rest = text.rpartition(" waiters=")
    tail = _TAIL.fullmatch(rest) if head else None
    return (head, tail) if tail else (text, None)


def _match_head(head: str) -> re.Match[str]:
    for pattern in _HEADS:
        if found := pattern.fullmatch(head):
            return found
    raise AssertionError("the last pattern matches any text")
