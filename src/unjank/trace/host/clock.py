"""Host functions for time: clocks, and the calendar that SQL's date functions use."""

import calendar
import time
from collections.abc import Callable
from typing import Any

from unjank.trace.host.errno import Errno
from unjank.trace.host.memory import GuestMemory

# WASI's clock ids.
_CLOCKS: dict[int, Callable[[], int]] = {
    0: time.time_ns,
    1: time.monotonic_ns,
    2: time.process_time_ns,
    3: time.thread_time_ns,
}

# `struct tm` is nine ints, then `long tm_gmtoff`; the C side itself fills in tm_zone.
_TM_FIELDS = "9i"
_TM_GMTOFF_OFFSET = {32: 36, 64: 40}
_TM_WDAY_OFFSET = 24
_ZONE_NAME_BYTES = 17  # TZNAME_MAX + 1 of the C library


class ClockHost:
    """Bodies of the imports that ask for time."""

    def __init__(self, memory: GuestMemory) -> None:
        self._memory = memory

    def bodies(self) -> dict[str, Callable[..., Any]]:
        """Import name to body."""
        return {
            "clock_time_get": self._clock_time_get,
            "emscripten_get_now": lambda: time.monotonic_ns() / 1e6,
            "emscripten_date_now": lambda: time.time_ns() / 1e6,
            "_tzset_js": self._tzset,
            "_gmtime_js": self._gmtime,
            "_localtime_js": self._localtime,
            "_timegm_js": self._timegm,
        }

    def _clock_time_get(self, clock_id: int, _precision: int, out: int) -> int:
        clock = _CLOCKS.get(clock_id)
        if clock is None:
            return Errno.EINVAL
        self._memory.pack(out, "Q", clock())
        return Errno.SUCCESS

    def _tzset(self, seconds_west: int, daylight: int, standard_name: int, summer_name: int) -> None:
        self._memory.pack(seconds_west, self._memory.layout.long, time.timezone)
        self._memory.pack(daylight, "i", int(time.daylight != 0))
        for out, name in zip((standard_name, summer_name), time.tzname, strict=True):
            self._memory.write(out, name.encode()[: _ZONE_NAME_BYTES - 1] + b"\0")

    def _gmtime(self, seconds: int, out: int) -> None:
        parts = _broken_down(time.gmtime, seconds)
        # Up to tm_yday: the C side sets tm_isdst and what follows.
        self._memory.pack(out, "8i", *parts[:8])

    def _localtime(self, seconds: int, out: int) -> None:
        self._memory.pack(out, _TM_FIELDS, *_broken_down(time.localtime, seconds))
        offset = _utc_offset(seconds)
        self._memory.pack(out + _TM_GMTOFF_OFFSET[self._memory.layout.bits], self._memory.layout.long, offset)

    def _timegm(self, tm: int) -> int:
        second, minute, hour, day, month, year, *_ = self._memory.unpack(tm, _TM_FIELDS)
        try:
            # The fields may be out of range (month 14, day 0): count from the start of the month's year.
            first = calendar.timegm((year + 1900 + month // 12, month % 12 + 1, 1, 0, 0, 0))
            seconds = first + (day - 1) * 86400 + hour * 3600 + minute * 60 + second
            parts = time.gmtime(seconds)
        except (OverflowError, ValueError, OSError):
            return -1
        self._memory.pack(tm + _TM_WDAY_OFFSET, "2i", (parts.tm_wday + 1) % 7, parts.tm_yday - 1)
        return seconds


def _broken_down(convert: Callable[[float], time.struct_time], seconds: int) -> tuple[int, ...]:
    """The nine ints of `struct tm`; all zero for a time that no calendar reaches, as in a browser."""
    try:
        t = convert(seconds)
    except (OverflowError, ValueError, OSError):
        return (0,) * 9
    weekday_from_sunday = (t.tm_wday + 1) % 7
    return (
        t.tm_sec,
        t.tm_min,
        t.tm_hour,
        t.tm_mday,
        t.tm_mon - 1,
        t.tm_year - 1900,
        weekday_from_sunday,
        t.tm_yday - 1,
        max(t.tm_isdst, 0),
    )


def _utc_offset(seconds: int) -> int:
    """Seconds east of UTC in the user's time zone at that time; 0 where it cannot be told."""
    try:
        return time.localtime(seconds).tm_gmtoff
    except (OverflowError, ValueError, OSError):
        return 0
