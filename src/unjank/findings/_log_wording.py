"""Parses what ART writes to logcat about a long wait for a monitor, in every wording of Android's versions.

    Long monitor contention with owner NAME (TID) at RET METHOD(ARGS)(FILE:LINE) waiters=N in METHOD for 140ms
    Long monitor contention event with owner method=RET METHOD(ARGS) from FILE:LINE waiters=N for 3.914s
    dvm_lock_sample: [PROCESS,MAIN,THREAD,MS,FILE,LINE,OWNERFILE,OWNERLINE,PERCENT]
    dvm_lock_sample: [PROCESS,MAIN,THREAD,MS,FILE,LINE,METHOD,OWNERFILE,OWNERLINE,OWNERMETHOD,PERCENT]
    dvm_lock_sample: process="…" main=0 thread="…" time=140 file="…" line=337 ownerfile="…" ownerline=… …

The last one is how Perfetto writes the two before it. It knows the names of the shorter one only: of the
longer one `ownerfile` is the waiter's method, `ownerline` the owner's file, `sample_percent` its line. An
owner's file `-` is the waiter's.
"""

import re
from dataclasses import dataclass

from unjank.findings._slice_name import PREFIX, Site, parse_monitor_name

SAMPLE_TAG = "dvm_lock_sample"
LONG_PREFIX = "Long monitor contention "

_LONGEST = 4096  # a logcat entry has at most 4068 bytes; see liblog's LOGGER_ENTRY_MAX_PAYLOAD
_DURATION = re.compile(r"(?P<value>[0-9]{1,12}(?:\.[0-9]{1,9})?)(?P<unit>s|ms|us|ns)")
_UNITS = {"s": 1_000_000_000, "ms": 1_000_000, "us": 1_000, "ns": 1}
_WITH_OWNER = re.compile(r"(?P<head>.*) waiters=(?P<waiters>[0-9]{1,9}) in (?P<method>.*)", re.DOTALL)
_WITH_METHOD = re.compile(
    r"event with owner method=(?P<method>.*) from (?P<file>.*):(?P<line>-?[0-9]{1,9}) "
    r"waiters=(?P<waiters>[0-9]{1,9})",
    re.DOTALL,
)
_METHOD = re.compile(r"(?:\S+ )?(?P<name>[^()\s]+)\([^()]*\)")
_FIELD = re.compile(r'([a-z_]+)=(?:"([^"]*)"|(\S*))')
_SHORT = re.compile(
    r"\[[^,]*,[^,]*,[^,]*,(?P<time>[0-9]{1,9}),(?P<file>[^,]*),(?P<line>-?[0-9]{1,9}),"
    r"(?P<owner_file>[^,()]*),(?P<owner_line>-?[0-9]{1,9}),[0-9]+\]"
)
_LONG = re.compile(
    r"\[[^,]*,[^,]*,[^,]*,(?P<time>[0-9]{1,9}),(?P<file>[^,]*),(?P<line>-?[0-9]{1,9}),"
    r"(?P<method>[^()]*\([^()]*\)|),(?P<owner_file>[^,()]*),(?P<owner_line>-?[0-9]{1,9}),"
    r"(?P<owner_method>[^()]*\([^()]*\)|),[0-9]+\]"
)


@dataclass(frozen=True)
class LoggedWait:
    """A wait for a monitor as logcat tells it.

    Attributes:
        dur: Length, ns; to the millisecond, as ART rounds it. The wait ended when it was logged.
        owner: Name of the thread that held the monitor, empty where the wording lacks it.
        owner_tid: Its kernel thread id.
        owner_site, waiter_site: Places in code.
        waiters: Number of threads that already waited.
    """

    dur: int
    owner: str = ""
    owner_tid: int | None = None
    owner_site: Site | None = None
    waiter_site: Site | None = None
    waiters: int | None = None


def parse_log(tag: str | None, message: str | None) -> LoggedWait | None:
    """Parses a log entry; None if it is not about a monitor, or in a wording that is not known."""
    text = (message or "")[:_LONGEST].strip()
    if tag is not None and tag.strip() == SAMPLE_TAG:
        return _parse_list(text) if text.startswith("[") else _parse_fields(text)
    return _parse_long(text) if text.startswith(LONG_PREFIX) else None


def _parse_long(text: str) -> LoggedWait | None:
    rest, _, duration = text[len(LONG_PREFIX) :].rpartition(" for ")
    dur = _parse_duration(duration)
    if dur is None:
        return None
    if found := _WITH_METHOD.fullmatch(rest):
        site = _site(found["method"], found["file"], found["line"])
        return LoggedWait(dur, owner_site=site, waiters=int(found["waiters"]))
    if not rest.startswith("with owner ") or (found := _WITH_OWNER.fullmatch(rest)) is None:
        return None
    name = parse_monitor_name(PREFIX + found["head"].removeprefix("with owner "))
    waiter_site = _site(found["method"], None, None)
    return LoggedWait(
        dur, name.owner, name.owner_tid, name.owner_site, waiter_site, waiters=int(found["waiters"])
    )


def _parse_list(text: str) -> LoggedWait | None:
    found = _SHORT.fullmatch(text) or _LONG.fullmatch(text)
    if found is None:
        return None
    parts = found.groupdict()
    return _sample(
        parts["time"],
        (parts.get("method"), parts["file"], parts["line"]),
        (parts.get("owner_method"), parts["owner_file"], parts["owner_line"]),
    )


def _parse_fields(text: str) -> LoggedWait | None:
    fields = {name: quoted or plain for name, quoted, plain in _FIELD.findall(text)}
    if not {"time", "file", "line"} <= fields.keys():
        return None
    place, line = fields["file"], fields["line"]
    if "(" in fields.get("ownerfile", ""):
        owner = (None, fields.get("ownerline"), fields.get("sample_percent"))
        return _sample(fields["time"], (fields["ownerfile"], place, line), owner)
    owner = (None, fields.get("ownerfile"), fields.get("ownerline"))
    return _sample(fields["time"], (None, place, line), owner)


_Place = tuple[str | None, str | None, str | None]  # method, file, line


def _sample(time: str, waiter: _Place, owner: _Place) -> LoggedWait | None:
    if not (time.isascii() and time.isdecimal() and len(time) < 10):
        return None
    method, file, line = owner
    owner_site = _site(method, waiter[1] if file == "-" else file, line)
    return LoggedWait(int(time) * _UNITS["ms"], owner_site=owner_site, waiter_site=_site(*waiter))


def _site(method: str | None, file: str | None, line: str | None) -> Site | None:
    """A place in code; where the method is not known, file and line alone."""
    number = int(line) if line and re.fullmatch("-?[0-9]{1,9}", line, re.ASCII) else None
    known = number if number is not None and number > 0 else None
    found = _METHOD.fullmatch(method) if method else None
    if found:
        return Site(found["name"], file or None, known)
    if method:
        return Site(method, file or None, known)
    if not file or (known is None and number == 0):
        return None
    return Site(file if known is None else f"{file}:{known}")


def _parse_duration(text: str) -> int | None:
    """ART's durations: `140ms`, `3.914s`."""
    found = _DURATION.fullmatch(text)
    if found is None:
        return None
    whole, _, fraction = found["value"].partition(".")
    unit = _UNITS[found["unit"]]
    return int(whole) * unit + (int(fraction) * unit // 10 ** len(fraction) if fraction else 0)
