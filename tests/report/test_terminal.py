"""The report on a terminal."""

import io
from typing import Any

import pytest
from rich.console import Console

from unjank.findings import Finding, FindingSet, Severity
from unjank.report import lead_sentence, render


def finding(**changes: Any) -> Finding:
    """A finding on one wait, with some members changed."""
    members: dict[str, Any] = {
        "kind": "lock-contention",
        "severity": Severity.HIGH,
        "process": "launcher.py",
        "thread": "UI thread",
        "owner": "BackgroundExecutor",
        "where": "launcher.UI.frame() (launcher.py:31)",
        "owner_where": "launcher.Queue.post() (launcher.py:77)",
        "ts_ns": 5,
        "dur_ns": 18_200_000,
        "count": 3,
        "advice": "Hold the lock for a shorter time.",
        "detail": {
            "lock": "Queue._lock (launcher.py:41)",
            "total_ns": 20_000_000,
            "summary": "UI thread waited.",
        },
    }
    return Finding(**{**members, **changes})


def inversion(**changes: Any) -> Finding:
    """A finding on an owner without a CPU."""
    rivals = [{"thread": f"camera-{i}", "total_ns": 4_000_000} for i in range(5)]
    detail = {
        "lock": "Queue._lock (launcher.py:41)",
        "total_ns": 20_000_000,
        "worst": {"held_off_ns": 15_900_000, "ran_instead": rivals},
        "summary": "UI thread waited, kept off the CPU.",
    }
    return finding(**{"kind": "priority-inversion", "detail": detail, **changes})


def rendered(
    findings: list[Finding], *notes: str, width: int = 80, terminal: bool = False, top: int = 10
) -> str:
    """What is printed, on a terminal or into a pipe."""
    out = io.StringIO()
    console = Console(
        file=out, width=width, force_terminal=terminal, color_system="standard" if terminal else None
    )
    render(console, FindingSet.ranked(findings, notes), trace="run.pftrace", top=top)
    return out.getvalue()


def test_whole_report() -> None:
    """Sentence, figures, particulars, advice and notes stand where they belong."""
    assert rendered([finding()], "scheduling was off") == (
        "run.pftrace\n"
        "\n"
        "HIGH  UI thread waited.\n"
        "\n"
        "lock-contention (1)\n"
        "           worst     total  times  who waited, for what\n"
        "high     18.2 ms     20 ms      3  UI thread (launcher.py)\n"
        "        in UI.frame() (launcher.py:31)\n"
        "        for Queue._lock (launcher.py:41)\n"
        "        held by BackgroundExecutor in Queue.post() (launcher.py:77)\n"
        "\n"
        "What to do\n"
        " - Hold the lock for a shorter time.\n"
        "\n"
        "Notes\n"
        " - Scheduling was off.\n"
    )


def test_owner_without_cpu() -> None:
    """A kind that tells time off the CPU gets a column for it, and the threads that ran instead."""
    text = rendered([inversion()])
    assert "   worst   off CPU     total  times" in text
    assert "high     18.2 ms   15.9 ms     20 ms      3  UI thread (launcher.py)" in text
    assert "while its CPU ran camera-0 4 ms, camera-1 4 ms, camera-2 4 ms, …" in text


def test_lead_explains_the_worst_wait() -> None:
    """Of two findings on the worst wait the one that tells the cause leads."""
    found = FindingSet.ranked([finding(), inversion(severity=Severity.MEDIUM)], [])
    assert lead_sentence(found) == "UI thread waited, kept off the CPU."


def test_lead_is_the_worst_wait() -> None:
    """A cause of another wait does not lead."""
    found = FindingSet.ranked([finding(), inversion(severity=Severity.MEDIUM, ts_ns=99)], [])
    assert lead_sentence(found) == "UI thread waited."


def deadlock() -> Finding:
    """A finding on two threads that wait for each other, of which `finding()` is one wait."""
    link = {
        "thread": "UI thread",
        "tid": 7,
        "lock": "A",
        "where": "a.b.C.f() (a.py:1)",
        "owner": "bg",
        "ts_ns": 5,
    }
    other = {**link, "thread": "bg", "tid": 8, "lock": "B", "owner": "UI thread", "ts_ns": 6}
    detail = {"cycle": [other, link], "total_ns": 18_000_000, "summary": "Deadlock."}
    return finding(kind="deadlock-cycle", severity=Severity.MEDIUM, ts_ns=6, dur_ns=18_000_000, detail=detail)


def test_lead_is_the_deadlock_that_the_worst_wait_is_part_of() -> None:
    """A wait in a circle is explained by the circle, one of another thread at that time is not."""
    for tid, lead in ((7, "Deadlock."), (9, "UI thread waited.")):
        wait = finding(detail={"waiter_tid": tid, "summary": "UI thread waited."})
        assert lead_sentence(FindingSet.ranked([wait, deadlock()], [])) == lead


def test_deadlock_lists_each_wait() -> None:
    """A circle is shown wait by wait."""
    text = rendered([deadlock()])
    assert "        bg in C.f() (a.py:1) for B, held by UI thread\n" in text
    assert "        UI thread in C.f() (a.py:1) for A, held by bg\n" in text


def test_kind_without_summary() -> None:
    """A kind that gives no sentence still leads with one."""
    assert lead_sentence(FindingSet.ranked([finding(kind="new-kind", detail={})], [])) == (
        "UI thread: new-kind, 18.2 ms."
    )
    assert "high     18.2 ms         -      3" in rendered([finding(kind="new-kind", detail={})])


def test_nothing_found() -> None:
    """Without findings it says so, and the notes say what that is worth."""
    text = rendered([], "The trace has no lock contention slices.")
    assert (
        text == "run.pftrace\n\nNo stall was found.\n\nNotes\n - The trace has no lock contention slices.\n"
    )


def test_top_limits_each_kind() -> None:
    """The longest list is cut, and tells how to get the rest."""
    many = [finding(ts_ns=index, dur_ns=1_000_000 + index) for index in range(12)]
    text = rendered(many, top=10)
    assert text.count("held by BackgroundExecutor") == 10
    assert "… and 2 more: --top 12 or --json shows them" in text
    assert "more" not in rendered(many, top=12)


@pytest.mark.parametrize("width", [40, 80, 200])
def test_width_is_kept(width: int) -> None:
    """No line is wider than the terminal, however long the names are."""
    name = "com.example.very.long.package.name." * 4
    long = finding(
        thread=name,
        process=name,
        where=f"{name}Class.method() ({name}.java:1)",
        detail={"lock": name, "summary": name},
    )
    lines = rendered([long], name, width=width).splitlines()
    assert max(map(len, lines)) <= width


def test_no_colour_codes_in_a_pipe() -> None:
    """Colours are for terminals only."""
    assert "\x1b" not in rendered([finding(), inversion()], "note")
    assert "\x1b[" in rendered([finding()], terminal=True)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("[red]x[/red]", "[red]x[/red]"),
        (":smile: [link=http://x]", ":smile: [link=http://x]"),
        ("\x1b[2J\x1b]0;title\x07", r"\x1b[2J\x1b]0;title\x07"),
        ("a\r\nb\tc", r"a\x0d\x0ab\x09c"),
        ("\x9b31m", r"\x9b31m"),
        ("\u202egnp.exe", r"\u202egnp.exe"),
        ("\ud800", r"\ud800"),
    ],
)
@pytest.mark.parametrize("member", ["thread", "process", "owner", "where", "owner_where", "advice"])
def test_names_are_printed_literally(name: str, shown: str, member: str) -> None:
    """Neither markup nor control characters in a name do anything but show."""
    detail = {"lock": name, "summary": f"{name} waited."}
    text = rendered([finding(**{member: name, "detail": detail})], f"On {name}.", width=200)
    lines = text.splitlines()
    assert f"HIGH  {shown} waited." in lines
    assert f"        for {shown}" in lines
    assert text.count(shown) >= 4
    assert all(character.isprintable() or character == "\n" for character in text)


def test_trace_name_is_printed_literally() -> None:
    """The file's name is no less foreign than what is in it."""
    out = io.StringIO()
    render(Console(file=out), FindingSet.ranked([], []), trace="[bold]\x1b[2Jx")
    assert out.getvalue().startswith(r"[bold]\x1b[2Jx")
