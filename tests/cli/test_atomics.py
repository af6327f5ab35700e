"""`unjank atomics`: tables for people, JSON for programs, one line for mistakes."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from tests.jvm.classes import Holder, holder_class, zip_bytes

from unjank.jvm.classfile import Access


def _atomics(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from unjank.cli import main; main()", "atomics", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


@pytest.fixture
def jar(tmp_path: Path) -> Path:
    """A jar with one updater and one call of it."""
    path = tmp_path / "held.jar"
    path.write_bytes(zip_bytes({"p/Held.class": holder_class(Holder())}))
    return path


def test_scan_tells_how_many_calls_could_be_direct(jar: Path) -> None:
    """The share first, then reasons in words; with --list each call."""
    result = _atomics("scan", jar, "--list")
    assert result.returncode == 0, result.stderr
    assert "1 of 1 updater calls (100%) could be made direct" in result.stdout
    assert "Updater, holder and value are proven." in result.stdout
    assert "direct p.Held.next(Lp/Held;)I at 4: p.Held.FU incrementAndGet: proven" in result.stdout


def test_optimize_writes_the_archive_and_its_proof_log(jar: Path, tmp_path: Path) -> None:
    """The JSON has each call with place, decision and reason."""
    out, log = tmp_path / "new" / "out.jar", tmp_path / "log.json"
    result = _atomics("optimize", jar, "-o", out, "--target", "unsafe", "--json", log)
    assert result.returncode == 0, result.stderr
    document = json.loads(log.read_text())
    assert (document["schema"], document["command"]) == ("unjank.atomics/1", "optimize")
    (archive,) = document["archives"]
    assert (archive["target"], archive["classes_changed"]) == ("unsafe", ["p/Held.class"])
    assert archive["sites"] == [
        {
            "entry": "p/Held.class",
            "class_name": "p.Held",
            "method": "next(Lp/Held;)I",
            "offset": 4,
            "operation": "incrementAndGet",
            "updater": "p.Held.FU",
            "decision": "direct",
            "reason": "proven",
            "detail": "Updater, holder and value are proven.",
        }
    ]
    with zipfile.ZipFile(out) as written:
        assert written.testzip() is None
        assert b"unjank$FU$incrementAndGet" in written.read("p/Held.class")


def test_json_on_standard_output_stands_alone(jar: Path) -> None:
    """`--json -` is for pipes."""
    result = _atomics("scan", jar, "--json", "-")
    assert json.loads(result.stdout)["archives"][0]["source"] == str(jar)


def test_several_archives_go_into_a_folder(jar: Path, tmp_path: Path) -> None:
    """Those of a folder keep their places in it."""
    (tmp_path / "in" / "lib").mkdir(parents=True)
    (tmp_path / "in" / "lib" / "a.jar").write_bytes(jar.read_bytes())
    (tmp_path / "in" / "b.jar").write_bytes(jar.read_bytes())
    result = _atomics("optimize", tmp_path / "in", jar, "-o", tmp_path / "out")
    assert result.returncode == 0, result.stderr
    names = sorted(
        path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*.jar")
    )
    assert names == ["b.jar", "held.jar", "lib/a.jar"]


def test_a_slash_at_the_end_names_a_folder(jar: Path, tmp_path: Path) -> None:
    """Also one that is not there yet, and for a single archive."""
    assert _atomics("optimize", jar, "-o", f"{tmp_path}/new/").returncode == 0
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["held.jar"]


def test_what_cannot_be_written_is_told_before_anything_is(jar: Path, tmp_path: Path) -> None:
    """A folder that is missing for the JSON, or cannot be made for the archive: one line, no output."""
    log = _atomics("optimize", jar, "-o", tmp_path / "out.jar", "--json", tmp_path / "no" / "log.json")
    assert log.returncode == 2
    assert "there is no folder" in log.stderr
    assert not (tmp_path / "out.jar").exists()
    folder = _atomics("optimize", jar, "-o", jar / "out.jar")
    assert folder.returncode == 2
    assert folder.stderr == f"unjank: cannot make the folder {jar}: File exists; name another place with -o\n"


def test_reasons_are_not_folded(tmp_path: Path) -> None:
    """The longest reason stands on one line, also where output is 80 columns wide."""
    path = tmp_path / "open.jar"
    path.write_bytes(zip_bytes({"p/Held.class": holder_class(Holder(updater_access=Access.STATIC))}))
    result = _atomics("scan", path)
    assert "updater-not-static-final" in result.stdout


def test_two_archives_for_one_file_are_refused(jar: Path, tmp_path: Path) -> None:
    """Nothing is overwritten by the next."""
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "held.jar").write_bytes(jar.read_bytes())
    result = _atomics("optimize", jar, tmp_path / "other" / "held.jar", "-o", tmp_path / "out")
    assert result.returncode == 2
    assert "would both become" in result.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("scan", "no.jar"), "unjank: cannot read no.jar: No such file or directory"),
        (("optimize", "no.jar", "-o", "out.jar"), "unjank: cannot read no.jar: No such file or directory"),
        (("optimize", ".", "-o", "out"), "unjank: there is no jar or AAR below .; name the archives"),
    ],
)
def test_mistakes_are_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], message: str
) -> None:
    """What, where, how to mend; exit code 2."""
    monkeypatch.chdir(tmp_path)
    result = _atomics(*arguments)
    assert (result.returncode, result.stderr) == (2, message + "\n")


def test_what_was_skipped_is_told_on_standard_error(tmp_path: Path) -> None:
    """A broken class does not stop the rest."""
    path = tmp_path / "broken.jar"
    good = holder_class(Holder())
    path.write_bytes(zip_bytes({"p/Held.class": good, "p/Cut.class": good[:-9]}))
    result = _atomics("scan", path)
    assert result.returncode == 0
    assert "skipped: p/Cut.class (class): an attribute is cut short" in result.stderr
    assert "1 of 1" in result.stdout
