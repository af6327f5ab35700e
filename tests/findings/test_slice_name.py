"""Names of ART's contention slices, in all wordings."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from unjank.findings._slice_name import PREFIX, MonitorName, Site, parse_monitor_name

NEXT = "android.os.Message android.os.MessageQueue.next()(MessageQueue.java:335)"
ENQUEUE = "boolean android.os.MessageQueue.enqueueMessage(android.os.Message, long)(MessageQueue.java:563)"


def test_full_wording() -> None:
    """Owner, thread id, both sites and the number of waiters are read."""
    name = parse_monitor_name(f"{PREFIX}bg-1 (42) at {ENQUEUE} waiters=3 blocking from {NEXT}")
    assert name == MonitorName(
        owner="bg-1",
        owner_tid=42,
        owner_site=Site("android.os.MessageQueue.enqueueMessage", "MessageQueue.java", 563),
        waiter_site=Site("android.os.MessageQueue.next", "MessageQueue.java", 335),
        waiters=3,
    )


def test_without_owner_method() -> None:
    """The wording that Perfetto's table drops still gives owner and waiter."""
    name = parse_monitor_name(f"{PREFIX}android.display (16) waiters=1 blocking from {NEXT}")
    assert (name.owner, name.owner_tid, name.owner_site, name.waiters) == ("android.display", 16, None, 1)
    assert name.waiter_site == Site("android.os.MessageQueue.next", "MessageQueue.java", 335)


def test_without_thread_id() -> None:
    """Older Android names the owner without a number."""
    name = parse_monitor_name(f"{PREFIX}main at {ENQUEUE} waiters=0 blocking from {NEXT}")
    assert (name.owner, name.owner_tid) == ("main", None)
    assert name.owner_site == Site("android.os.MessageQueue.enqueueMessage", "MessageQueue.java", 563)


def test_without_thread_id_and_method() -> None:
    """The shortest wording is an owner alone."""
    assert parse_monitor_name(f"{PREFIX}main waiters=0 blocking from {NEXT}").owner == "main"


def test_python_recorder() -> None:
    """The recorder's own slices read as ART's do."""
    name = parse_monitor_name(
        f"{PREFIX}BackgroundExecutor (7001) at void Queue.post()(launcher.py:77) waiters=0 "
        "blocking from void UI.frame.<locals>.<lambda>()(launcher.py:31)"
    )
    assert name.owner_tid == 7001
    assert str(name.owner_site) == "Queue.post() (launcher.py:77)"
    assert str(name.waiter_site) == "UI.frame.<locals>.<lambda>() (launcher.py:31)"


def test_file_name_with_brackets() -> None:
    """Google's packages have brackets and colons in their file names."""
    site = Site.parse(
        "void bgkz.u(bghq, int)(:com.google.android.gms@223016044@22.30.16 (190400-468027120):2)"
    )
    assert site == Site("bgkz.u", ":com.google.android.gms@223016044@22.30.16 (190400-468027120)", 2)


@pytest.mark.parametrize("line", ["-1", "-2"])
def test_native_method_has_no_line(line: str) -> None:
    """ART writes a negative line where there is none."""
    assert Site.parse(f"int Linux.readBytes()(Linux.java:{line})") == Site(
        "Linux.readBytes", "Linux.java", None
    )


def test_cut_name_still_parses() -> None:
    """A name cut anywhere behind the prefix gives a record with the owner as far as it is there."""
    full = f"{PREFIX}worker (42) at {ENQUEUE} waiters=3 blocking from {NEXT}"
    for length in range(len(PREFIX), len(full)):
        assert parse_monitor_name(full[:length]).owner[:6] == full[len(PREFIX) : length][:6]


def test_other_slice_is_refused() -> None:
    """Only contention slices are parsed."""
    with pytest.raises(ValueError, match="not a lock contention slice"):
        parse_monitor_name("Choreographer#doFrame")


def test_hostile_number_is_no_thread_id() -> None:
    """A number too long to be one is left in the name instead of failing."""
    assert parse_monitor_name(f"{PREFIX}x ({'9' * 6000}) waiters=0").owner_tid is None


_WORD = st.text(
    st.characters(
        exclude_characters="() \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0", categories=("L", "N", "P", "S")
    ),
    min_size=1,
    max_size=20,
)
_SITES = st.builds(Site, _WORD, _WORD, st.integers(min_value=0, max_value=99_999))
_NAMES = st.text(min_size=1, max_size=40)


def _wording(name: MonitorName) -> str:
    return (
        f"{PREFIX}{name.owner} ({name.owner_tid}) at {_java(name.owner_site)} "
        f"waiters={name.waiters} blocking from {_java(name.waiter_site)}"
    )


def _java(site: Site | None) -> str:
    assert site is not None
    return f"void {site.method}(int, java.lang.String[])({site.file}:{site.line})"


@given(
    st.builds(
        MonitorName,
        owner=_NAMES,
        owner_tid=st.integers(min_value=1, max_value=2**31),
        owner_site=_SITES,
        waiter_site=_SITES,
        waiters=st.integers(min_value=0, max_value=999),
    )
)
@example(
    MonitorName(
        "a (5) at b waiters=3 blocking from c", 7, Site("A.b", "A.java", 1), Site("C.d", "C.java", 2), 0
    )
)
def test_round_trip(name: MonitorName) -> None:
    """Whatever threads, methods and files are called, what was written is read."""
    assert parse_monitor_name(_wording(name)) == name


@given(st.text(max_size=300))
def test_any_text_parses(text: str) -> None:
    """No name makes the parser fail."""
    parse_monitor_name(PREFIX + text)
