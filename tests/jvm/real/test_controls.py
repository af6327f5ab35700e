"""Negative controls: what a mistake of the analysis would lead to is refused, and not run."""

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from benchmarks._linking import LINKED, outcomes
from tests.jvm.real.rewriting import Way, first_difference

from unjank.bench.updaters import Jdk
from unjank.bench.updaters.toolchain import compile_java, make_jar, run_java
from unjank.jvm import Decision, VerificationError
from unjank.jvm.analysis import plan
from unjank.jvm.analysis.hierarchy import Hierarchy
from unjank.jvm.archive_optimizer import ArchiveOptimizer

_WAYS = [Way("varhandle"), Way("unsafe")]
_SOURCE = """
import java.util.concurrent.atomic.*;
@SuppressWarnings({"unchecked", "rawtypes"})
class Subject {
  volatile int n;
  volatile Thread t;
  private static final AtomicIntegerFieldUpdater<Subject> N =
      AtomicIntegerFieldUpdater.newUpdater(Subject.class, "n");
  private static final AtomicReferenceFieldUpdater<Subject, Thread> T =
      AtomicReferenceFieldUpdater.newUpdater(Subject.class, Thread.class, "t");
  int right() { return N.incrementAndGet(this); }
  static int holder(String s) { return ((AtomicIntegerFieldUpdater) N).incrementAndGet(s); }
  Object value(StringBuilder b) { return ((AtomicReferenceFieldUpdater) T).getAndSet(this, b); }
  static Object leak() { return new Object[] {N}; }
}
"""


@pytest.fixture(scope="module")
def jar_with(compiler: Jdk, tmp_path_factory: pytest.TempPathFactory) -> Callable[[set[str]], Path]:
    """Makes a jar of `Subject` with only some of its methods, besides `right`."""

    def make(methods: set[str]) -> Path:
        folder = tmp_path_factory.mktemp("subject")
        optional = {"holder", "value", "leak"} - methods
        lines = [line for line in _SOURCE.splitlines() if not any(f" {name}(" in line for name in optional)]
        (folder / "Subject.java").write_text("\n".join(lines))
        compile_java(compiler, [folder / "Subject.java"], folder / "classes", release=17)
        return make_jar(folder / "classes", folder / "subject.jar")

    return make


@pytest.fixture
def unverified(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rewriter does not read its output again, so that the JVM's verifier is the only one left."""
    monkeypatch.setattr(ArchiveOptimizer, "verify", lambda self, written: None)


def _believe_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hierarchy in which every type fits every other."""
    monkeypatch.setattr(Hierarchy, "assignable", lambda self, kind, target, within: True)


@pytest.mark.parametrize("way", _WAYS, ids=str)
@pytest.mark.parametrize("method", ["holder", "value"])
@pytest.mark.usefixtures("unverified")
def test_false_proof_is_a_verify_error(
    monkeypatch: pytest.MonkeyPatch,
    jar_with: Callable[[set[str]], Path],
    link_all: Path,
    jdk: Jdk,
    tmp_path: Path,
    method: str,
    way: Way,
) -> None:
    """A String taken for a holder, or a StringBuilder for a Thread, is refused before it is run."""
    jar, output = jar_with({method}), tmp_path / "out.jar"
    _believe_everything(monkeypatch)
    result = way.rewrite(jar, output)
    assert {site.decision for site in result.sites} == {Decision.DIRECT}
    assert outcomes(jdk, link_all, [jar]) == {"Subject": LINKED}
    refused = outcomes(jdk, link_all, [output])["Subject"]
    assert refused.startswith("java.lang.VerifyError: Bad type on operand stack")


@pytest.mark.parametrize("way", _WAYS, ids=str)
def test_without_the_false_proof_it_links(
    jar_with: Callable[[set[str]], Path], link_all: Path, jdk: Jdk, tmp_path: Path, way: Way
) -> None:
    """The control of the control: the analysis as it is leaves such calls, and everything links."""
    result = way.rewrite(jar_with({"holder", "value"}), tmp_path / "out.jar")
    direct = {site.method.split("(")[0] for site in result.sites if site.decision is Decision.DIRECT}
    assert direct == {"right"}
    assert set(outcomes(jdk, link_all, [tmp_path / "out.jar"]).values()) == {LINKED}


@pytest.mark.parametrize("way", _WAYS, ids=str)
def test_missed_escape_is_refused(
    monkeypatch: pytest.MonkeyPatch, jar_with: Callable[[set[str]], Path], tmp_path: Path, way: Way
) -> None:
    """An updater that is removed although an array takes it: the output is read again, and not kept."""
    monkeypatch.setattr(plan, "_may_go", lambda scope, plan, direct: True)
    with pytest.raises(VerificationError):
        way.rewrite(jar_with({"leak"}), tmp_path / "out.jar")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("way", _WAYS, ids=str)
@pytest.mark.usefixtures("unverified")
def test_missed_escape_shows_in_the_transcript(
    monkeypatch: pytest.MonkeyPatch, fixture_jar: Path, compiler: Jdk, tmp_path: Path, way: Way
) -> None:
    """Were it kept, the fixture would not print what it did."""
    monkeypatch.setattr(plan, "_may_go", lambda scope, plan, direct: True)
    output = tmp_path / "out.jar"
    way.rewrite(fixture_jar, output)
    before = run_java(compiler, "fixture.Main", classpath=[fixture_jar], options=["-Xverify:all"])
    after = run_java(compiler, "fixture.Main", classpath=[output], options=["-Xverify:all"])
    assert first_difference(before.stdout, after.stdout) != ""


@pytest.mark.parametrize("way", _WAYS, ids=str)
def test_escape_keeps_the_updater(jar_with: Callable[[set[str]], Path], tmp_path: Path, way: Way) -> None:
    """Without that mistake the updater stays for the one who reads it, and the others' calls are direct."""
    output = tmp_path / "out.jar"
    result = way.rewrite(jar_with({"leak"}), output)
    assert {updater.name: updater.outcome.value for updater in result.updaters}["Subject.N"] == "companion"
    assert b"AtomicIntegerFieldUpdater" in zipfile.ZipFile(output).read("Subject.class")
