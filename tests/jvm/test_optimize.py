"""What is written behaves as what was read: on a JVM, for both targets, with and without checks."""

from pathlib import Path

import pytest
from tests.jvm.classes import zip_bytes
from tests.jvm.conftest import JAVA, Compile, make_jar, run_java

from unjank.jvm import Decision, OptimizeOptions, OptimizeResult, Outcome, Reason, optimize_archive

MODES = [("unsafe", False), ("unsafe", True), ("varhandle", False), ("varhandle", True)]


@pytest.fixture(scope="module", params=["8", "17"])
def program(
    compile_java: Compile, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Path:
    """A program that prints what each operation gives; for Java 8 nested classes go through accessors."""
    folder = tmp_path_factory.mktemp("program")
    return make_jar(
        folder / "program.jar",
        compile_java({"p/Main.java": (JAVA / "Main.java").read_text()}, "--release", request.param),
    )


def _optimize(jar: Path, output: Path, target: str, *, checked: bool = False) -> OptimizeResult:
    assert target in ("unsafe", "varhandle")
    options = OptimizeOptions(target="unsafe" if target == "unsafe" else "varhandle", checked=checked)
    return optimize_archive(jar, output, options)


@pytest.mark.parametrize(("target", "checked"), MODES)
def test_every_operation_gives_the_same(program: Path, tmp_path: Path, target: str, *, checked: bool) -> None:
    """Results, exceptions and serialVersionUID are those of the original; nearly all calls are direct."""
    result = _optimize(program, tmp_path / "out.jar", target, checked=checked)
    before, after = run_java(program, "p.Main"), run_java(tmp_path / "out.jar", "p.Main")
    assert before.returncode == 0, before.stderr
    assert (after.stdout, after.returncode) == (before.stdout, 0), after.stderr
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
