"""What is written behaves as what was read: on a JVM, for both targets, with and without checks."""

import zipfile
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.jvm.classes import zip_bytes
from tests.jvm.conftest import JAVA, Compile, make_jar, run_java

from unjank.jvm import Decision, OptimizeOptions, OptimizeResult, Outcome, Reason, optimize_archive
from unjank.jvm.classfile import parse_class

MODES = [("unsafe", False), ("unsafe", True), ("varhandle", False), ("varhandle", True)]


class Program(NamedTuple):
    """A jar, and what its main class prints."""

    jar: Path
    prints: str


@pytest.fixture(scope="module", params=["8", "17"])
def program(
    compile_java: Compile, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Program:
    """A program that prints what each operation gives; for Java 8 nested classes go through accessors."""
    sources = {"p/Main.java": (JAVA / "Main.java").read_text()}
    classes = compile_java(sources, "--release", request.param)
    jar = make_jar(tmp_path_factory.mktemp("program") / "program.jar", classes)
    ran = run_java(jar, "p.Main")
    assert ran.returncode == 0, ran.stderr
    return Program(jar, ran.stdout)


def _optimize(jar: Path, output: Path, target: str, *, checked: bool = False) -> OptimizeResult:
    assert target in ("unsafe", "varhandle")
    options = OptimizeOptions(target="unsafe" if target == "unsafe" else "varhandle", checked=checked)
    return optimize_archive(jar, output, options)


@pytest.mark.parametrize(("target", "checked"), MODES)
def test_every_operation_gives_the_same(
    program: Program, tmp_path: Path, target: str, *, checked: bool
) -> None:
    """Results, exceptions and serialVersionUID are those of the original; nearly all calls are direct."""
    result = _optimize(program.jar, tmp_path / "out.jar", target, checked=checked)
    after = run_java(tmp_path / "out.jar", "p.Main")
    assert (after.stdout, after.returncode) == (program.prints, 0), after.stderr
    kept = [(site.operation, site.reason) for site in result.sites if site.decision is Decision.KEPT]
    assert kept == [("get", Reason.HOLDER_NOT_PROVEN)]  # "wrong holder"
    outcomes = {updater.name: updater.outcome for updater in result.updaters}
    assert outcomes["p.Main.I"] is Outcome.REMOVED
    assert outcomes["p.Main.SHARED"] is Outcome.COMPANION


@pytest.mark.parametrize("major", [49, 50, 51])
@pytest.mark.parametrize("target", ["unsafe", "varhandle"])
def test_old_class_files(compile_java: Compile, tmp_path: Path, major: int, target: str) -> None:
    """Classes of Java 5 and 6, which the JVM verifies by inferring types, work with both targets."""
    classes = compile_java({"p/Kinds.java": (JAVA / "Kinds.java").read_text()}, "--release", "8")
    old = {
        f"p/{path.name}": path.read_bytes()[:6] + major.to_bytes(2, "big") + path.read_bytes()[8:]
        for path in (classes / "p").glob("*.class")
    }
    (tmp_path / "in.jar").write_bytes(zip_bytes(old))
    result = _optimize(tmp_path / "in.jar", tmp_path / "out.jar", target)
    assert {site.decision for site in result.sites} == {Decision.DIRECT}
    before, after = run_java(tmp_path / "in.jar", "p.Kinds"), run_java(tmp_path / "out.jar", "p.Kinds")
    assert (after.stdout, after.returncode) == (before.stdout, 0), after.stderr


@pytest.mark.parametrize("target", ["unsafe", "varhandle"])
def test_no_instruction_moves(program: Program, tmp_path: Path, target: str) -> None:
    """Each method that was there has code of the same length, with the same tables; even the initialiser."""
    _optimize(program.jar, tmp_path / "out.jar", target)
    compared = 0
    with zipfile.ZipFile(program.jar) as before, zipfile.ZipFile(tmp_path / "out.jar") as after:
        for name in before.namelist():
            old, new = parse_class(before.read(name)), parse_class(after.read(name))
            for one, other in zip(old.methods, new.methods, strict=False):
                code, patched = old.code(one), new.code(other)
                if code is None or patched is None or _is_accessor(old.key(one)):
                    continue
                compared += code.code != patched.code
                assert len(code.code) == len(patched.code)
                assert (code.exceptions, code.attributes) == (patched.exceptions, patched.attributes)
    assert compared > 10


def _is_accessor(key: tuple[str, str]) -> bool:
    """Accessors make an updater anew, which takes more than to read one."""
    return key[1].startswith("()") and key[1].endswith("FieldUpdater;")


SHORT = ("get", "set", "lazySet", "compareAndSet", "weakCompareAndSet")


@pytest.mark.parametrize("target", ["unsafe", "varhandle"])
def test_common_helpers_are_short_enough_to_be_inlined(program: Program, tmp_path: Path, target: str) -> None:
    """C1 inlines methods of up to 35 bytes; what happens rarely is in another method."""
    _optimize(program.jar, tmp_path / "out.jar", target)
    with zipfile.ZipFile(tmp_path / "out.jar") as out:
        cls = parse_class(out.read("p/Main.class"))
    lengths = {
        cls.key(method)[0].removeprefix("unjank$"): len(code.code)
        for method in cls.methods
        if (code := cls.code(method)) is not None
    }
    wanted = [f"{updater}${name}" for updater in "ILO" for name in SHORT]
    wanted += [f"{updater}$getAndSet" for updater in "ILO" if target == "varhandle"]
    assert {name: lengths[name] for name in wanted if lengths[name] > 35} == {}
