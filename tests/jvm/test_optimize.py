"""What is written behaves as what was read: on a JVM, for both targets, with and without checks."""

import shutil
import subprocess
from pathlib import Path

import pytest
from tests.jvm.conftest import JAVA, Compile, make_jar

from unjank.jvm import Decision, OptimizeOptions, OptimizeResult, Outcome, Reason, optimize_archive

MODES = [("unsafe", False), ("unsafe", True), ("varhandle", False), ("varhandle", True)]


@pytest.fixture(scope="module")
def program(compile_java: Compile, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that prints what each operation gives."""
    folder = tmp_path_factory.mktemp("program")
    return make_jar(folder / "program.jar", compile_java({"p/Main.java": (JAVA / "Main.java").read_text()}))


def run_java(jar: Path, main: str, *options: str) -> str:
    """Runs a program with all its classes verified."""
    java = shutil.which("java")
    if java is None:
        pytest.skip("needs a JDK: no java on PATH")
    command = [java, "-Xverify:all", *options]
    done = subprocess.run(
        [*command, "-cp", str(jar), main], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def _optimize(jar: Path, output: Path, target: str, *, checked: bool = False) -> OptimizeResult:
    assert target in ("unsafe", "varhandle")
    options = OptimizeOptions(target="unsafe" if target == "unsafe" else "varhandle", checked=checked)
    return optimize_archive(jar, output, options)


@pytest.mark.parametrize(("target", "checked"), MODES)
def test_every_operation_gives_the_same(program: Path, tmp_path: Path, target: str, *, checked: bool) -> None:
    """Results, exceptions and serialVersionUID are those of the original; nearly all calls are direct."""
    result = _optimize(program, tmp_path / "out.jar", target, checked=checked)
    assert run_java(tmp_path / "out.jar", "p.Main") == run_java(program, "p.Main")
    kept = [(site.operation, site.reason) for site in result.sites if site.decision is Decision.KEPT]
    assert kept == [("get", Reason.HOLDER_NOT_PROVEN)]  # "wrong holder"
    outcomes = {updater.name: updater.outcome for updater in result.updaters}
    assert outcomes["p.Main.I"] is Outcome.REMOVED
    assert outcomes["p.Main.SHARED"] is Outcome.COMPANION
