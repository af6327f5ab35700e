"""Promela models of the queue's protocols, checked with spin; each seeded mistake must be found."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODELS = sorted((ROOT / "models").glob("*.pml"))
MUTATIONS = [
    (model, name)
    for model in MODELS
    for name in sorted(set(re.findall(r"^#ifn?def (\w+)", model.read_text(), flags=re.MULTILINE)))
]

needs_spin = pytest.mark.skipif(
    shutil.which("spin") is None or shutil.which("cc") is None,
    reason="needs spin and a C compiler (Debian packages spin, gcc)",
)


def check(model: Path, folder: Path, *defines: str) -> str:
    """Explores all states of `model` with the given mutations; returns the verifier's report."""
    subprocess.run(
        ["spin", *(f"-D{name}" for name in defines), "-a", str(model)],
        cwd=folder,
        check=True,
        capture_output=True,
    )
    # No partial-order reduction: the models are small, and it assumes more than they promise.
    subprocess.run(["cc", "-DSAFETY", "-DNOREDUCE", "-o", "pan", "pan.c"], cwd=folder, check=True)
    report = subprocess.run(["./pan", "-m100000"], cwd=folder, check=True, capture_output=True, text=True)
    return report.stdout


def errors(report: str) -> int:
    """The number of violations in a verifier's report."""
    found = re.search(r"errors: (\d+)", report)
    assert found is not None, report
    return int(found.group(1))


@needs_spin
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.stem)
def test_protocol_holds_in_every_state(model: Path, tmp_path: Path) -> None:
    """The protocol as shipped has no violation, and the search was not cut short."""
    report = check(model, tmp_path)
    assert errors(report) == 0, report
    assert "max search depth too small" not in report
    assert "Search not completed" not in report


@needs_spin
@pytest.mark.parametrize(("model", "mutation"), MUTATIONS, ids=[f"{m.stem}-{name}" for m, name in MUTATIONS])
def test_each_seeded_mistake_is_found(model: Path, mutation: str, tmp_path: Path) -> None:
    """A known mistake, put into the model by one definition, leads to a violation."""
    assert errors(check(model, tmp_path, mutation)) > 0


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.stem)
def test_every_mutation_is_explained(model: Path) -> None:
    """The comment at the top of a model names exactly the mutations that it has."""
    header, _, _ = model.read_text().partition("*/")
    explained = re.findall(r"^ \*   ([A-Z][A-Z_]+) ", header, flags=re.MULTILINE)
    assert sorted(explained) == [name for m, name in MUTATIONS if m == model]


def test_there_are_models() -> None:
    """The models are where these tests look for them."""
    assert {model.stem for model in MODELS} >= {"quit", "removal", "stack", "traversal_gate", "wake_word"}
