"""Which findings of two traces are about the same thing, although lines and threads' numbers changed."""

import re
from collections.abc import Mapping, Sequence

from unjank.findings import Finding, Json

Key = tuple[str, ...]

# A place's line, "(bank.py:20)": code above it may have grown. Numbers in names: "pool-2-thread-7".
_LINE = re.compile(r":[0-9]+(?=\)|$)")
_NUMBER = re.compile(r"[0-9]+")
_BY_MESSAGE = ("slow-dispatch",)


def identity(finding: Finding) -> Key:
    """What a finding is about: kind, process, and lock, circle, pair or thread; equal in both traces."""
    return (finding.kind, _name(finding.process), *_subject(finding))


def _subject(finding: Finding) -> Key:
    detail = finding.detail
    if circle := _mappings(detail.get("cycle")):
        return tuple(sorted(_place(_text(link.get("lock"))) for link in circle))
    if pair := _mappings(detail.get("pair")):
        return tuple(sorted(_name(_text(thread.get("thread"))) for thread in pair))
    if isinstance(detail.get("lock"), str):
        return (_place(_text(detail["lock"])), _place(finding.owner_where), _role(finding))
    if finding.kind in _BY_MESSAGE:
        return (_name(finding.thread), _place(finding.where))
    return (_name(finding.thread),)


def _role(finding: Finding) -> str:
    """Waits of main threads are findings of their own."""
    waiters = _mappings(finding.detail.get("waiters"))
    return "main" if waiters and waiters[0].get("main") else "other"


def _mappings(value: Json) -> Sequence[Mapping[str, Json]]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        return ()
    return [entry for entry in value if isinstance(entry, Mapping)]


def _text(value: Json) -> str | None:
    return value if isinstance(value, str) else None


def _place(place: str | None) -> str:
    return _LINE.sub("", place or "")


def _name(name: str | None) -> str:
    return _NUMBER.sub("N", name or "")
