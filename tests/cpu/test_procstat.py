"""The kernel's accounts of a thread."""

import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cpu.machines import ProcThread

from unjank.cpu import CpuError
from unjank.cpu.procstat import parse_sched, parse_schedstat, parse_stat, parse_status_switches


@given(
    name=st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=15), cpu=st.integers(0, 4095)
)
def test_any_name_is_read_right(name: str, cpu: int) -> None:
    """Spaces, brackets, line ends and digits in a name move no field."""
    stat = parse_stat(ProcThread(tid=7, name=name, last_cpu=cpu, nice=-5).stat().encode())
    assert (stat.tid, stat.name, stat.last_cpu, stat.nice) == (7, name, cpu, -5)


def test_a_name_that_looks_like_fields() -> None:
    """The trap itself: `a) R 1 (b` as a name."""
    stat = parse_stat(ProcThread(name="a) R 1 (b", state="S", last_cpu=3).stat().encode())
    assert (stat.name, stat.state, stat.last_cpu) == ("a) R 1 (b", "S", 3)


@pytest.mark.parametrize("text", [b"", b"1", b"1 (x", b"1 (x) S 0", b"x) (1 S"])
def test_what_is_no_stat_line_is_an_error(text: bytes) -> None:
    """No IndexError, no wrong figures."""
    with pytest.raises(CpuError, match="not a line of /proc/PID/stat"):
        parse_stat(text)


def test_counters_of_sched_and_status_agree_here() -> None:
    """Both files of this thread name counts; those of `sched`, read later, are not smaller."""
    folder = Path(f"/proc/self/task/{threading.get_native_id()}")
    first = parse_status_switches((folder / "status").read_bytes())
    assert first is not None
    if not (folder / "sched").exists():
        pytest.skip("this kernel has no /proc/PID/sched (CONFIG_SCHED_DEBUG)")
    later = parse_sched((folder / "sched").read_bytes())
    assert later is not None
    assert later.voluntary >= first.voluntary
    assert later.involuntary >= first.involuntary
    assert later.migrations is not None


def test_texts_without_counters_are_told_apart() -> None:
    """A kernel that keeps no such figures gives None, not zeros."""
    assert parse_sched(b"x (1, #threads: 1)\n") is None
    assert parse_status_switches(b"Name:\tx\n") is None
    assert parse_schedstat(b"") is None
    assert parse_schedstat(b"5 7 1\n") == (5, 7)
