"""serialVersionUID: the number that the JVM computes, and it stays."""

from pathlib import Path

import pytest
from tests.jvm.conftest import JAVA, Compile, make_jar, run_java

from unjank.jvm import OptimizeOptions, Outcome, optimize_archive
from unjank.jvm.classfile import parse_class
from unjank.jvm.rewrite.serial import default_serial, has_serial

SOURCES = {"p/Kinds.java": (JAVA / "Kinds.java").read_text()}


@pytest.mark.parametrize("release", ["8", "17"])
def test_it_is_what_the_jvm_computes(compile_java: Compile, tmp_path: Path, release: str) -> None:
    """For public, nested, private and abstract classes, interfaces with and without methods."""
    classes = compile_java(SOURCES, "--release", release)
    ran = run_java(make_jar(tmp_path / "kinds.jar", classes), "p.Kinds")
    assert ran.returncode == 0, ran.stderr
    told = dict(line.split(" ") for line in ran.stdout.splitlines() if " " in line)
    for name, number in told.items():
        cls = parse_class((classes / "p" / f"{name}.class").read_bytes())
        assert has_serial(cls) == (name == "Kinds$Named")
        if not has_serial(cls):
            assert default_serial(cls) == int(number), name
    assert len(told) == 8


@pytest.mark.parametrize("release", ["8", "17"])
@pytest.mark.parametrize("target", ["unsafe", "varhandle"])
def test_it_stays(compile_java: Compile, tmp_path: Path, release: str, target: str) -> None:
    """Also of a class that gets a helper that others call, which alone would change it."""
    classes = compile_java(SOURCES, "--release", release)
    jar = make_jar(tmp_path / "kinds.jar", classes)
    options = OptimizeOptions(target="unsafe" if target == "unsafe" else "varhandle")
    result = optimize_archive(jar, tmp_path / "out.jar", options)
    assert [updater.outcome for updater in result.updaters] == [Outcome.REMOVED]
    before, after = run_java(jar, "p.Kinds"), run_java(tmp_path / "out.jar", "p.Kinds")
    assert (after.stdout, after.returncode) == (before.stdout, 0), after.stderr
