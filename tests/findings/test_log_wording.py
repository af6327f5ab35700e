"""Waits for monitors as ART writes them to logcat, in every wording of Android's versions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unjank.findings._log_wording import LoggedWait, parse_log
from unjank.findings._slice_name import Site

MS = 1_000_000
ENQUEUE = "boolean android.os.MessageQueue.enqueueMessage(android.os.Message, long)"
NEXT = "android.os.Message android.os.MessageQueue.next()"


@pytest.mark.parametrize(
    ("tag", "message", "expected"),
    [
        pytest.param(
            "ndroid.systemu",
            f"Long monitor contention with owner main (980) at {ENQUEUE}(MessageQueue.java:600) waiters=0 in "
            f"{NEXT} for 140ms",
            LoggedWait(
                140 * MS,
                "main",
                980,
                Site("android.os.MessageQueue.enqueueMessage", "MessageQueue.java", 600),
                Site("android.os.MessageQueue.next"),
                0,
            ),
            id="text of Android 8 and later",
        ),
        pytest.param(
            "zygote64",
            "Long monitor contention with owner GLThread 378 (11113) at void java.lang.Thread.sleep("
            "java.lang.Object, long, int)(Thread.java:-2) waiters=2 in boolean a.B.verify(java.lang.String) "
            "for 2.041s",
            LoggedWait(
                2041 * MS,
                "GLThread 378",
                11113,
                Site("java.lang.Thread.sleep", "Thread.java", None),
                Site("a.B.verify"),
                2,
            ),
            id="a name with a space, seconds, a native method",
        ),
        pytest.param(
            "art",
            "Long monitor contention event with owner method=void com.android.server.wm.WindowAnimator$1."
            "doFrame(long) from WindowAnimator.java:121 waiters=0 for 340ms",
            LoggedWait(
                340 * MS,
                owner_site=Site("com.android.server.wm.WindowAnimator$1.doFrame", "WindowAnimator.java", 121),
                waiters=0,
            ),
            id="text of Android 5 to 7",
        ),
        pytest.param(
            "dvm_lock_sample",
            "[com.google.example,0,pool-3-thread-4,494,MetricsManager.java,57,Object.java,-2,98]",
            LoggedWait(494 * MS, owner_site=Site("Object.java"), waiter_site=Site("MetricsManager.java:57")),
            id="sample with nine fields",
        ),
        pytest.param(
            "dvm_lock_sample",
            "[system_server,1,Binder_4,4919,NetworkPolicyManagerService.java,1696,-,1056,100]",
            LoggedWait(
                4919 * MS,
                owner_site=Site("NetworkPolicyManagerService.java:1056"),
                waiter_site=Site("NetworkPolicyManagerService.java:1696"),
            ),
            id="sample whose owner is in the waiter's file",
        ),
        pytest.param(
            "dvm_lock_sample",
            "[system_server,0,android.display,23,WindowManagerService.java,5440,void a.WindowManagerService"
            "$H.handleMessage(android.os.Message),WindowSurfacePlacer.java,113,void a.WindowSurfacePlacer."
            "lambda$-x_5523(int, long),4]",
            LoggedWait(
                23 * MS,
                owner_site=Site("a.WindowSurfacePlacer.lambda$-x_5523", "WindowSurfacePlacer.java", 113),
                waiter_site=Site("a.WindowManagerService$H.handleMessage", "WindowManagerService.java", 5440),
            ),
            id="sample with eleven fields",
        ),
        pytest.param(
            "dvm_lock_sample",
            'process="system_server" main=1 thread="android.display" time=11 file="MessageQueue.java" '
            f'line=554 ownerfile="{ENQUEUE}" ownerline="-" sample_percent=600',
            LoggedWait(
                11 * MS,
                owner_site=Site("MessageQueue.java:600"),
                waiter_site=Site("android.os.MessageQueue.enqueueMessage", "MessageQueue.java", 554),
            ),
            id="eleven fields under the names of nine",
        ),
        pytest.param(
            "dvm_lock_sample",
            'process="system_server" main=1 thread="Binder:582_1F" time=40 file="A.java" line=2935 '
            'ownerfile="boolean a.A.check(int)" ownerline="" sample_percent=0',
            LoggedWait(40 * MS, waiter_site=Site("a.A.check", "A.java", 2935)),
            id="sample without an owner",
        ),
        pytest.param(
            "dvm_lock_sample",
            'process="p" main=0 thread="t" time=7 file="A.java" line=5 ownerfile="B.java" ownerline=9 '
            "sample_percent=1",
            LoggedWait(7 * MS, owner_site=Site("B.java:9"), waiter_site=Site("A.java:5")),
            id="nine fields under their own names",
        ),
    ],
)
def test_wordings(tag: str, message: str, expected: LoggedWait) -> None:
    """Each wording gives length, owner and places as far as it has them."""
    assert parse_log(tag, message) == expected


@pytest.mark.parametrize(
    ("tag", "message"),
    [
        ("art", "Long monitor contention with owner x (1) waiters=0 in void a.B.c() for ever"),
        ("art", "Long monitor contention of a kind nobody knows for 12ms"),
        ("dvm_lock_sample", "[too,few,fields]"),
        ("dvm_lock_sample", 'time="long" file="A.java" line=1'),
        ("dvm_lock_sample", ""),
        ("app", "monitors are contended"),
        (None, None),
    ],
)
def test_other_texts_are_none(tag: str | None, message: str | None) -> None:
    """What is not a wait, or has no length that can be read, is not made one."""
    assert parse_log(tag, message) is None


@given(st.sampled_from(["dvm_lock_sample", "art"]), st.text(max_size=60), st.integers(0, 10**12))
def test_any_text_is_read(tag: str, text: str, number: int) -> None:
    """No text makes the parser fail, and no length is negative."""
    for message in (
        text,
        f"Long monitor contention {text} for {number}ms",
        f"Long monitor contention with owner {text} waiters={number} in {text} for {number}.5s",
        f"[{text},{number},{text}]",
        f'time={number} file="{text}" line={number} ownerfile="{text}"',
    ):
        found = parse_log(tag, message)
        assert found is None or found.dur >= 0


def test_long_text_takes_no_long_time() -> None:
    """A hostile text is cut before it is matched."""
    assert parse_log("dvm_lock_sample", "[" + "a(," * 1_000_000) is None
    assert (
        parse_log("art", "Long monitor contention with owner " + "(1) at a(b)(c:1) waiters=1 in " * 100_000)
        is None
    )
