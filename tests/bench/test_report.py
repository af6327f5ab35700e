"""What a benchmark collects, and its JSON."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from unjank import UnjankError
from unjank.bench import Goal, Report, Scale, document, machine_facts, machine_warnings, write_document

MACHINE: dict[str, Any] = {
    "cpu": "one",
    "cpus": 4,
    "load_1min": 0.0,
    "governor": None,
    "clocksource": "tsc",
    "virtual": False,
    "python": "3.13.0",
    "gil": True,
}


def _report() -> Report:
    report = Report()
    report.add("post", "ns/post", [3.0, 1.0, 2.0], of="looper")
    report.compare("fast", [30.0, 20.0], [2.0, 2.0], of="rate", goal=Goal(10))
    report.compare("slow", [30.0, 20.0], [2.0, 2.0], of="time", goal=Goal(1.3, at_least=False))
    report.leave_out("other", "not installed")
    return report


def test_document_has_the_contract() -> None:
    """Schema, machine, results, ratios, and what is absent with its reason."""
    content = document("queue", _report(), MACHINE, Scale(repeats=3))
    assert content["schema"] == "unjank.bench/1"
    assert content["benchmark"] == "queue"
    assert content["machine"] == MACHINE
    assert content["warnings"] == []
    assert content["absent"] == [{"name": "other", "reason": "not installed"}]
    assert content["results"] == [
        {
            "name": "post",
            "unit": "ns/post",
            "median": 2.0,
            "low": 1.0,
            "high": 3.0,
            "of": "looper",
            "values": [3.0, 1.0, 2.0],
        }
    ]


def test_ratios_say_whether_their_goal_is_met() -> None:
    """A lower bound and an upper bound, both against the median."""
    ratios = document("queue", _report(), MACHINE, Scale())["ratios"]
    fast = {"median": 12.5, "low": 10.0, "high": 15.0, "of": "rate", "goal": {"at_least": 10}, "met": True}
    assert ratios["fast"] == fast
    assert ratios["slow"] == fast | {"of": "time", "goal": {"at_most": 1.3}, "met": False}


def test_a_goal_may_lie_between_two_bounds() -> None:
    """Both bounds count as reached, and both are in the JSON."""
    goal = Goal(0.8, at_most=1.3)
    assert [goal.is_met(value) for value in (0.79, 0.8, 1.3, 1.31)] == [False, True, True, False]
    assert goal.to_dict() == {"at_least": 0.8, "at_most": 1.3}


def test_what_others_published_stands_beside_the_ratio() -> None:
    """Theirs is a field of its own, and no part of ours."""
    report = Report()
    report.compare("unpinned", [8.0], [2.0], of="time", published=16.0)
    about = document("pingpong", report, MACHINE, Scale())["ratios"]["unpinned"]
    assert (about["median"], about["published"]) == (4.0, 16.0)


def test_repetitions_that_do_not_count_are_warned_of() -> None:
    """How many, of how many, and the commonest reason; none refused, no word."""
    report, part = Report(), Report()
    report.judged(5, [])
    assert document("cores", report, MACHINE, Scale())["warnings"] == []
    part.judged(4, ["moved", "late", "moved"])
    report.absorb(part)
    (warning,) = document("cores", report, MACHINE, Scale())["warnings"]
    assert warning == "3 of 9 repetitions do not count, most of them as: moved"


def test_absorbing_adds_everything() -> None:
    """Reports of parts make one."""
    whole, part = Report(), _report()
    whole.leave_out("first", "no reason")
    whole.absorb(part)
    assert (whole.results, whole.ratios) == (part.results, part.ratios)
    assert [item["name"] for item in whole.absent] == ["first", "other"]


def test_a_quick_run_judges_nothing() -> None:
    """Figures of a hundredth of the work meet no goal and miss none, and a warning says so."""
    content = document("queue", _report(), MACHINE, Scale.quick())
    assert content["ratios"]["fast"]["met"] is None
    assert "divided by 100" in content["warnings"][0]


@pytest.mark.parametrize(
    ("facts", "part"),
    [
        ({"load_1min": 3.0}, "load 3.0 on 4 CPUs"),
        ({"cpus": 1}, "one CPU"),
        ({"governor": "powersave"}, "'powersave'"),
        ({"clocksource": "hpet"}, "'hpet'"),
        ({"virtual": True}, "virtual machine"),
        ({"quota_cpus": 1.5}, "a control group allows 1.5 CPUs' time on 4 CPUs"),
    ],
)
def test_each_doubt_is_warned_of(facts: dict[str, Any], part: str) -> None:
    """What disturbs figures is said, alone where it is alone."""
    (warning,) = machine_warnings(MACHINE | facts)
    assert part in warning


def test_machine_facts_are_read_from_the_system(tmp_path: Path) -> None:
    """CPU model, governor and hypervisor come from /proc and /sys, under any root."""
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/cpuinfo").write_text("model name\t: Fast 9000\nflags\t\t: sse hypervisor\n")
    governor = tmp_path / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"
    governor.parent.mkdir(parents=True)
    governor.write_text("schedutil\n")
    facts = machine_facts(("unjank", "no-such-package"), tmp_path)
    assert (facts["cpu"], facts["governor"], facts["virtual"]) == ("Fast 9000", "schedutil", True)
    assert facts["packages"]["unjank"]
    assert facts["packages"]["no-such-package"] is None


def test_a_bare_root_gives_no_facts_and_no_error(tmp_path: Path) -> None:
    """Where /proc and /sys say nothing, the facts say so."""
    facts = machine_facts((), tmp_path)
    assert (facts["governor"], facts["clocksource"], facts["virtual"]) == (None, None, False)
    assert (facts["topology"], facts["quota_cpus"]) == (None, None)


def test_machine_facts_tell_what_cpus_share(tmp_path: Path) -> None:
    """How many cores, clusters, nodes and packages there are."""
    cpus = tmp_path / "sys/devices/system/cpu"
    for cpu in range(4):
        folder = cpus / f"cpu{cpu}/topology"
        folder.mkdir(parents=True)
        (folder / "physical_package_id").write_text(f"{cpu // 2}\n")
        (folder / "core_cpus_list").write_text(f"{cpu}\n")
    (cpus / "online").write_text("0-3\n")
    assert machine_facts((), tmp_path)["topology"] == {"cores": 4, "clusters": 2, "nodes": 1, "packages": 2}


def test_document_is_written_to_streams_and_files(tmp_path: Path) -> None:
    """Both get the same JSON."""
    content = document("queue", _report(), MACHINE, Scale())
    stream = io.StringIO()
    write_document(content, stream)
    write_document(content, tmp_path / "figures.json")
    assert stream.getvalue() == (tmp_path / "figures.json").read_text()
    assert json.loads(stream.getvalue())["ratios"] == content["ratios"]


def test_unwritable_file_is_one_line(tmp_path: Path) -> None:
    """The error names the file, the cause and the option."""
    with pytest.raises(UnjankError, match=r"cannot write .*: Is a directory; name another file with --json"):
        write_document({}, tmp_path)
