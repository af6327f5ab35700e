"""Two runs of a benchmark, side by side."""

import json
from pathlib import Path
from typing import Any

import pytest

from unjank import UnjankError
from unjank.bench import Goal, Report, Scale, document, write_document
from unjank.bench.compare import Change, compare, load

MACHINE: dict[str, Any] = {"cpu": "one", "cpus": 4, "load_1min": 0.0, "governor": None, "clocksource": "tsc"}
MACHINE |= {"virtual": False, "python": "3.13.0", "gil": True, "packages": {"unjank": "1"}}


def _run(folder: Path, name: str, **changes: Any) -> Path:
    """A run with one result and one ratio; `post` and `fast` are their values."""
    report = Report()
    report.add(
        "post",
        "ns/post",
        changes.get("post", [10.0, 11.0, 12.0]),
        queue="ours",
        rounds=changes.get("rounds", 5),
    )
    report.compare(
        "fast",
        changes.get("fast", [2.0, 2.1, 2.2]),
        [1.0] * 3,
        of=changes.get("of", "rate"),
        goal=changes.get("goal"),
    )
    machine = MACHINE | changes.get("machine", {})
    content = document(changes.get("benchmark", "queue"), report, machine, changes.get("scale", Scale(3)))
    path = folder / f"{name}.json"
    write_document(content, path)
    return path


def _changes(folder: Path, before: dict[str, Any], after: dict[str, Any]) -> dict[str, Change]:
    comparison = compare(load(_run(folder, "a", **before)), load(_run(folder, "b", **after)))
    return {change.before.label: change for change in comparison.changes}


def test_intervals_that_meet_are_the_same(tmp_path: Path) -> None:
    """However far the medians moved within them."""
    changes = _changes(tmp_path, {}, {"post": [12.0, 20.0, 30.0]})
    assert {change.verdict for change in changes.values()} == {"same"}


def test_time_is_better_when_less_and_a_rate_when_more(tmp_path: Path) -> None:
    """The unit tells, and what a ratio is of."""
    changes = _changes(tmp_path, {}, {"post": [5.0, 5.5, 6.0], "fast": [1.0, 1.1, 1.2]})
    assert (changes["post ours"].verdict, changes["fast"].verdict) == ("better", "worse")
    assert changes["post ours"].factor is not None
    assert changes["post ours"].factor.median == 0.5
    assert (changes["post ours"].factor.low, changes["post ours"].factor.high) == (5 / 12, 6 / 10)


@pytest.mark.parametrize(
    ("of", "goal", "verdict"),
    [
        ("time", None, "better"),
        ("time", Goal(1.0), "worse"),
        ("rate", Goal(3.0, at_least=False), "better"),
        ("time", Goal(0.8, at_most=1.3), "changed"),
        ("CPU time", None, "changed"),
    ],
)
def test_a_goal_says_what_is_better(tmp_path: Path, of: str, goal: Goal | None, verdict: str) -> None:
    """Before what the ratio is of; between two bounds, or of something neutral, it just changed."""
    about = {"of": of, "goal": goal}
    assert _changes(tmp_path, about, about | {"fast": [1.0, 1.1, 1.2]})["fast"].verdict == verdict


def test_circumstances_do_not_tell_figures_apart(tmp_path: Path) -> None:
    """Rounds are calibrated, and differ from run to run."""
    assert "post ours" in _changes(tmp_path, {"rounds": 5}, {"rounds": 7})


def test_figures_with_the_same_facts_are_numbered(tmp_path: Path) -> None:
    """Two of them are compared in their order."""
    report = Report()
    report.add("post", "ns/post", [1.0])
    report.add("post", "ns/post", [2.0])
    write_document(document("queue", report, MACHINE, Scale(1)), tmp_path / "twice.json")
    assert set(load(tmp_path / "twice.json").results) == {"post", "post #2"}


def test_nothing_is_divided_by_zero(tmp_path: Path) -> None:
    """A figure that was zero has no factor, but a verdict."""
    change = _changes(tmp_path, {"post": [0.0] * 3}, {"post": [1.0] * 3})["post ours"]
    assert (change.factor, change.verdict, change.percent) == (None, "worse", 0.0)


def test_other_circumstances_are_warned_of(tmp_path: Path) -> None:
    """Another machine, package, a quick run, a noisy one, one of few repetitions; each once."""
    other = {"cpus": 8, "packages": {"unjank": "2"}, "during": {"others_cpus": 1.5}}
    before, after = load(_run(tmp_path, "a")), load(_run(tmp_path, "b", machine=other, scale=Scale.quick()))
    comparison = compare(before, after)
    text = "\n".join(comparison.warnings)
    for part in (
        "cpus differs: 4 and 8",
        "package unjank differs: 1 and 2",
        "is a quick run",
        "a.json has 3 repetitions",
        "kept 1.5 CPUs busy",
    ):
        assert part in text
    assert comparison.to_dict()["machine"] == {"cpus": [4, 8], "package unjank": ["1", "2"]}
    assert len(compare(before, before).warnings) == 1
    calm = load(_run(tmp_path, "c", scale=Scale(6)))
    assert compare(calm, calm).warnings == []


def test_worse_is_counted_beyond_a_threshold(tmp_path: Path) -> None:
    """Only what is worse beyond its intervals, and by more than asked."""
    comparison = compare(
        load(_run(tmp_path, "a")), load(_run(tmp_path, "b", post=[22.0] * 3, fast=[9.0] * 3))
    )
    assert [change.before.label for change in comparison.worse_by(50)] == ["post ours"]
    assert comparison.worse_by(101) == []


def test_what_only_one_run_has_is_listed(tmp_path: Path) -> None:
    """Nothing vanishes silently."""
    report = Report()
    report.add("new", "ns", [1.0])
    write_document(document("queue", report, MACHINE, Scale(1)), tmp_path / "b.json")
    content = compare(load(_run(tmp_path, "a")), load(tmp_path / "b.json")).to_dict()
    assert (content["only_before"], content["only_after"]) == (["fast", "post ours"], ["new"])
    assert content["schema"] == "unjank.bench-compare/1"
    assert json.dumps(content)


def test_different_benchmarks_are_not_compared(tmp_path: Path) -> None:
    """The error names both."""
    with pytest.raises(
        UnjankError, match=r"'bench queue' and .* of 'bench heap'; compare two runs of the same"
    ):
        compare(load(_run(tmp_path, "a")), load(_run(tmp_path, "b", benchmark="heap")))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        (
            '{"schema": "unjank.bench/1", "benchmark": 1, "machine": {}, "scale": {"divisor": 1'
            + "0" * 999
            + "}}",
            "Overflow",
        ),
        ("[]", "is not a benchmark's JSON"),
        ('{"schema": "unjank.report/1"}', "is not a benchmark's JSON"),
        ('{"schema": "unjank.bench/1"}', "is damaged .KeyError: 'benchmark'"),
        ('{"schema": "unjank.bench/1", "benchmark": 1, "machine": 7}', "is damaged .TypeError"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, text: str, reason: str) -> None:
    """Whatever is in them: one error, with the way to write the right one."""
    path = tmp_path / "odd.json"
    path.write_text(text)
    with pytest.raises(UnjankError, match=reason):
        load(path)


@pytest.mark.parametrize(
    "damage", [{"median": None}, {"median": "x"}, {"low": float("nan")}, {"unit": None, "median": []}]
)
def test_damaged_figures_are_refused(tmp_path: Path, damage: dict[str, Any]) -> None:
    """No figure is read that is none."""
    content = json.loads(_run(tmp_path, "a").read_text())
    content["results"][0] |= damage
    path = tmp_path / "damaged.json"
    path.write_text(json.dumps(content))
    with pytest.raises(UnjankError, match="is damaged"):
        load(path)


def test_a_file_cannot_steer_the_terminal(tmp_path: Path) -> None:
    """Controls in its strings are shown, not sent."""
    content = json.loads(_run(tmp_path, "a").read_text())
    content["results"][0]["queue"] = "\x1b[2Jours"
    content["machine"]["cpu"] = "\x1b]0;title\x07"
    (tmp_path / "odd.json").write_text(json.dumps(content))
    odd = load(tmp_path / "odd.json")
    assert "post \\x1b[2Jours" in odd.results
    assert "\x1b" not in "".join(compare(odd, load(_run(tmp_path, "b"))).warnings)


def test_a_missing_file_is_one_line(tmp_path: Path) -> None:
    """With the cause."""
    with pytest.raises(UnjankError, match=r"cannot read .*: No such file or directory; name another file"):
        load(tmp_path / "none.json")
