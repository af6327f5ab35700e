"""Clocks and calendar of the engine."""

import calendar
import struct
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.trace.host.guest import guest_memory

from unjank.trace.host.clock import ClockHost
from unjank.trace.host.errno import Errno
from unjank.trace.host.memory import GuestMemory

_TM = 1024
# 0001-01-01 to 9999-12-31
_SECONDS = st.integers(-62135596800, 253402300799)


@pytest.mark.parametrize(
    ("clock_id", "reference"),
    [(0, time.time_ns), (1, time.monotonic_ns), (2, time.process_time_ns), (3, time.thread_time_ns)],
)
def test_each_clock_is_its_own(memory: GuestMemory, clock_id: int, reference: object) -> None:
    """WASI's clock ids mean wall clock, monotonic clock, CPU time of the process, CPU time of the thread."""
    assert callable(reference)
    before = reference()
    assert ClockHost(memory).bodies()["clock_time_get"](clock_id, 0, 64) == Errno.SUCCESS
    (value,) = memory.unpack(64, "Q")
    assert before <= value <= reference()


def test_unknown_clock_is_refused(memory: GuestMemory) -> None:
    """Another clock id is EINVAL, and nothing is written."""
    assert ClockHost(memory).bodies()["clock_time_get"](9, 0, 64) == Errno.EINVAL
    assert memory.read(64, 8) == bytes(8)


def test_milliseconds(memory: GuestMemory) -> None:
    """emscripten_get_now is monotonic, emscripten_date_now the wall clock, both in milliseconds."""
    bodies = ClockHost(memory).bodies()
    low = time.monotonic() * 1e3
    assert low - 1 <= bodies["emscripten_get_now"]() <= time.monotonic() * 1e3 + 1
    low = time.time() * 1e3
    assert low - 1 <= bodies["emscripten_date_now"]() <= time.time() * 1e3 + 1


@given(seconds=_SECONDS)
def test_gmtime_agrees_with_python(seconds: int) -> None:
    """The broken-down time is Python's, in C's numbering: months and days of the year from 0, Sunday 0."""
    memory = guest_memory(32)
    ClockHost(memory).bodies()["_gmtime_js"](seconds, _TM)
    expected = time.gmtime(seconds)
    assert memory.unpack(_TM, "8i") == (
        expected.tm_sec,
        expected.tm_min,
        expected.tm_hour,
        expected.tm_mday,
        expected.tm_mon - 1,
        expected.tm_year - 1900,
        (expected.tm_wday + 1) % 7,
        expected.tm_yday - 1,
    )


@given(seconds=_SECONDS)
def test_timegm_undoes_gmtime(seconds: int) -> None:
    """Seconds to fields and back gives the same seconds."""
    memory = guest_memory(64)
    bodies = ClockHost(memory).bodies()
    bodies["_gmtime_js"](seconds, _TM)
    assert bodies["_timegm_js"](_TM) == seconds


def test_timegm_takes_fields_out_of_range(memory: GuestMemory) -> None:
    """Month 13 is next year's February and day 0 the day before the first, as in C; the weekday is set."""
    memory.pack(_TM, "9i", 0, 0, 0, 0, 13, 2023 - 1900, 0, 0, 0)
    assert ClockHost(memory).bodies()["_timegm_js"](_TM) == calendar.timegm((2024, 1, 31, 0, 0, 0))
    weekday, yday = memory.unpack(_TM + 24, "2i")
    assert (weekday, yday) == (3, 30)


def test_timegm_of_an_impossible_year(memory: GuestMemory) -> None:
    """A year no calendar reaches gives -1, as in C."""
    memory.pack(_TM, "9i", 0, 0, 0, 1, 0, 2**31 - 1, 0, 0, 0)
    assert ClockHost(memory).bodies()["_timegm_js"](_TM) == -1


def test_time_beyond_the_calendar_is_zeros(memory: GuestMemory) -> None:
    """A time that can't be broken down leaves zeros rather than an error."""
    memory.write(_TM, b"\xff" * 36)
    bodies = ClockHost(memory).bodies()
    bodies["_gmtime_js"](2**62, _TM)
    assert memory.unpack(_TM, "8i") == (0,) * 8
    bodies["_localtime_js"](2**62, _TM)
    assert memory.unpack(_TM, "9i") == (0,) * 9


@pytest.fixture
def new_york(monkeypatch: pytest.MonkeyPatch) -> object:
    """The process's time zone is New York's."""
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("new_york")
@pytest.mark.parametrize(("month", "offset", "dst"), [(1, -5 * 3600, 0), (7, -4 * 3600, 1)])
def test_localtime_in_new_york(memory: GuestMemory, month: int, offset: int, dst: int) -> None:
    """Noon UTC is 7 o'clock in winter and 8 in summer; tm_gmtoff lies where `long` is aligned."""
    seconds = calendar.timegm((2024, month, 15, 12, 0, 0))
    ClockHost(memory).bodies()["_localtime_js"](seconds, _TM)
    fields = memory.unpack(_TM, "9i")
    assert (fields[2], fields[8]) == (12 + offset // 3600, dst)
    form, at = ("i", 36) if memory.layout.bits == 32 else ("q", 40)
    assert memory.unpack(_TM + at, form) == (offset,)


@pytest.mark.usefixtures("new_york")
def test_tzset_in_new_york(memory: GuestMemory) -> None:
    """The engine learns the standard offset west of UTC, that there is summer time, and both names."""
    ClockHost(memory).bodies()["_tzset_js"](_TM, _TM + 8, _TM + 16, _TM + 40)
    assert struct.unpack("<" + memory.layout.long, memory.read(_TM, memory.layout.size)) == (5 * 3600,)
    assert memory.unpack(_TM + 8, "i") == (1,)
    assert (memory.text(_TM + 16), memory.text(_TM + 40)) == ("EST", "EDT")
