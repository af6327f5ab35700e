"""`bench updaters` compares what it says it compares; its figures are not tested here."""

import zipfile
from pathlib import Path

import pytest

from unjank import UnjankError
from unjank.bench import Report, Scale
from unjank.bench.updaters import Jdk, coroutines, operations
from unjank.bench.updaters._timing import columns, read_times
from unjank.bench.updaters._variants import MODES, compiler, runtimes, variants_for

_TIMED = {"compare_and_set", "get_and_set", "set", "increment"}


def _only_one_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unjank.bench.updaters._timing.MODES", {"int": MODES["int"]})


@pytest.fixture
def oldest(monkeypatch: pytest.MonkeyPatch) -> Jdk:
    """The oldest runtime found, which is then the only one."""
    if compiler() is None:
        pytest.skip("no JDK 17 or newer with a compiler; install openjdk-17-jdk-headless")
    jdk = runtimes()[0]
    for part in (operations, coroutines):
        monkeypatch.setattr(part, "runtimes", lambda: [jdk])
    return jdk


def test_operations(monkeypatch: pytest.MonkeyPatch, oldest: Jdk) -> None:
    """Each variant is timed and set against the updater; every call of the rewritten ones is direct."""
    _only_one_mode(monkeypatch)
    report = Report()
    operations.measure(report, Scale(repeats=1, divisor=1000), lambda _: None)
    sides = [variant for variant in variants_for(oldest) if variant != "updater"] + ["atomic"]
    assert set(report.ratios) == {
        f"{side}_vs_updater_{name}_int_jdk{oldest.feature}" for side in sides for name in _TIMED
    }
    direct = {found["variant"]: found["direct"] for found in report.results}
    assert direct == {"updater": 0} | dict.fromkeys(sides[:-1], 5)
    assert all(found["median"] > 0 for found in report.results)


def test_coroutines(monkeypatch: pytest.MonkeyPatch, oldest: Jdk, kernel_jars: list[Path]) -> None:
    """Launch and cancel, a mutex and a channel run in each variant; most calls of the library are direct."""
    _only_one_mode(monkeypatch)
    monkeypatch.setenv(coroutines.JARS_VARIABLE, ":".join(map(str, kernel_jars)))
    report = Report()
    coroutines.measure(report, Scale(repeats=1, divisor=1000), lambda _: None)
    assert f"varhandle_vs_updater_launch_cancel_int_jdk{oldest.feature}" in report.ratios
    assert {found["name"] for found in report.results} == {
        "launch_cancel",
        "launch_complete",
        "deferred",
        "mutex",
        "channel",
    }
    assert min(found["direct"] for found in report.results if found["variant"] != "updater") > 300


def test_without_a_jdk_the_parts_are_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be measured is named with the way to have it."""
    report = Report()
    for part in (operations, coroutines):
        monkeypatch.setattr(part, "compiler", lambda: None)
        part.measure(report, Scale.quick(), lambda _: None)
    assert [(found["name"], "JAVA_HOME" in found["reason"]) for found in report.absent] == [
        ("operations", True),
        ("coroutines", True),
    ]


def test_without_the_library_its_part_is_absent(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The reason names the package that has it, and the variable."""
    monkeypatch.setattr(coroutines, "compiler", lambda: Jdk(tmp_path, "17", "test"))
    monkeypatch.setattr(coroutines, "find_jars", list)
    report = Report()
    coroutines.measure(report, Scale.quick(), lambda _: None)
    (absent,) = report.absent
    assert "kotlin-jupyter-kernel" in absent["reason"]
    assert coroutines.JARS_VARIABLE in absent["reason"]


def test_a_newer_runtime_is_not_asked_for_unsafe(tmp_path: Path) -> None:
    """From JDK 24 on, sun.misc.Unsafe warns: VarHandle is the only target that makes sense."""
    assert variants_for(Jdk(tmp_path, "23.0.1", "test")) == ["updater", "varhandle", "unsafe"]
    assert variants_for(Jdk(tmp_path, "24", "test")) == ["updater", "varhandle"]


def test_printed_times_become_columns() -> None:
    """One line per thing timed, one value per run."""
    runs = [read_times("set 1.5\nget 2\n"), read_times("set 2.5\nget 4\n")]
    assert columns(runs) == {"set": [1.5, 2.5], "get": [2.0, 4.0]}


def _jar(path: Path, **entries: bytes) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in entries.items():
            archive.writestr(name.replace("__", "/") + ".class", content)
    return path


def test_picking_takes_a_package_and_the_first_of_doubles(tmp_path: Path) -> None:
    """As a class path would: of a class in two jars the first counts."""
    first = _jar(tmp_path / "1.jar", a__A=b"1", b__B=b"1")
    second = _jar(tmp_path / "2.jar", a__A=b"2", a__C=b"2")
    picked = coroutines.pick([first, second], "a/", tmp_path / "picked.jar")
    with zipfile.ZipFile(picked) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == {
            "a/A.class": b"1",
            "a/C.class": b"2",
        }


def test_jars_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    """Neither a jar without the package nor a file that is none goes unsaid."""
    with pytest.raises(UnjankError, match="no classes kotlinx"):
        coroutines.pick([_jar(tmp_path / "1.jar", a__A=b"1")], "kotlinx/", tmp_path / "out.jar")
    (tmp_path / "no.jar").write_text("text")
    with pytest.raises(UnjankError, match=r"cannot read .*no\.jar"):
        coroutines.pick([tmp_path / "no.jar"], "kotlinx/", tmp_path / "out.jar")
