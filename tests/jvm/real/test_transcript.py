"""The fixture prints the same before and after the rewrite, on each JVM, interpreted and compiled."""

import functools
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.jvm.real.corpus import only_with_the_gil
from tests.jvm.real.matrix import FORMS, KINDS
from tests.jvm.real.rewriting import WAYS, Way, first_difference, runs

from unjank.bench.updaters import Jdk
from unjank.jvm import Decision, OptimizeResult, Outcome

_OPTIONS = (
    "-Xverify:all",
    "-XX:-OmitStackTraceInFastThrow",  # compiled code would leave out the line that the transcript shows
    "-XX:-ShowCodeDetailsInExceptionMessages",  # they quote the bytecode, which is meant to change
)
_MODES = {
    "default": ("-Drounds=40", "-XX:CompileThresholdScaling=0.005"),  # enough rounds to be compiled
    "interpreted": ("-Xint",),
}


def _transcript(jdk: Jdk, jar: Path, mode: str) -> str:
    return runs(jdk, "fixture.Main", [jar], *_OPTIONS, *_MODES[mode]).stdout


@pytest.fixture(scope="module")
def before(jdk: Jdk, fixture_jar: Path) -> str:
    """What the untouched jar prints."""
    return _transcript(jdk, fixture_jar, "interpreted")


@pytest.fixture(scope="module")
def rewritten(fixture_jar: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[Way], OptimizeResult]:
    """The fixture after the rewrite."""
    folder = tmp_path_factory.mktemp("rewritten")
    return functools.cache(lambda way: way.rewrite(fixture_jar, folder / f"{way}.jar"))


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_both_layouts_are_in_the_fixture(rewritten: Callable[[Way], OptimizeResult], way: Way) -> None:
    """Updaters whose calls are all proven are gone; those that others use stay, beside direct calls."""
    result = rewritten(way)
    outcomes = {updater.name.removeprefix("fixture."): updater.outcome for updater in result.updaters}
    proven = [name for name in outcomes if name.endswith("_proven.U")]
    assert len(proven) == len(KINDS) * len(FORMS)
    assert {outcomes[name] for name in proven} == {Outcome.REMOVED}
    shared = {outcomes[f"{kind.name}_{form}.U"] for kind in KINDS for form in FORMS}
    assert shared == {Outcome.COMPANION}
    assert sum(site.decision is Decision.DIRECT for site in result.sites) > 3000


def test_transcript_covers_everything(before: str) -> None:
    """Thousands of rows: exceptions of each kind are among them, and no round differed from the first."""
    rows = before.splitlines()
    assert len(rows) > 4000
    assert sum("ClassCastException" in row for row in rows) > 1000
    assert sum("NullPointerException" in row for row in rows) > 100
    assert not [row for row in rows if "but in round" in row or "DAMAGED" in row]


def test_compiled_code_prints_the_same(before: str, jdk: Jdk, fixture_jar: Path) -> None:
    """The fixture itself does not depend on how it is run; else nothing could be compared."""
    only_with_the_gil()
    assert first_difference(before, _transcript(jdk, fixture_jar, "default")) == ""


@pytest.mark.parametrize("mode", _MODES)
@pytest.mark.parametrize("way", WAYS, ids=str)
def test_same_transcript(
    before: str, rewritten: Callable[[Way], OptimizeResult], jdk: Jdk, way: Way, mode: str
) -> None:
    """Results, fields, exceptions with their lines, and what is refused: nothing changes."""
    if mode == "default":
        only_with_the_gil()
    assert first_difference(before, _transcript(jdk, Path(rewritten(way).output), mode)) == ""
