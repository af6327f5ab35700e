"""Dex code of APKs: reflective calls are found, and who made the code.

data/held.dex is data/Held.smali, assembled by `smali assemble -o held.dex Held.smali`.
"""

import zlib
from pathlib import Path

import pytest
from tests.jvm.classes import Holder, holder_class, zip_bytes

from unjank.jvm import (
    ArchiveError,
    Decision,
    DexFile,
    OptimizeOptions,
    Reason,
    optimize_archive,
    scan_archive,
)
from unjank.jvm.dex import scan_dex

DEX = (Path(__file__).parent / "data" / "held.dex").read_bytes()


def _apk(folder: Path, dex: bytes = DEX) -> Path:
    path = folder / "app.apk"
    path.write_bytes(zip_bytes({"AndroidManifest.xml": b"", "classes.dex": dex}))
    return path


def test_reflective_calls_of_an_apk(tmp_path: Path) -> None:
    """Each call with its place, behind a switch's data as well; other calls do not count."""
    pytest.importorskip("lief", reason="needs LIEF: pip install 'unjank[dex]'")
    result = scan_archive(_apk(tmp_path))
    found = [(site.class_name, site.method, site.offset, site.operation) for site in result.sites]
    assert found == [("p.Held", "next", 10, "incrementAndGet"), ("p.Held", "swap", 4, "compareAndSet")]
    assert {(site.decision, site.reason) for site in result.sites} == {(Decision.KEPT, Reason.DEX_REFLECTIVE)}


def test_who_made_the_code_is_told(tmp_path: Path) -> None:
    """By the string that D8 and R8 leave behind."""
    pytest.importorskip("lief", reason="needs LIEF: pip install 'unjank[dex]'")
    assert scan_archive(_apk(tmp_path)).dex == [DexFile("classes.dex", "D8", "8.2.33", "release")]


def test_code_without_a_marker_says_so() -> None:
    """Nothing is guessed."""
    pytest.importorskip("lief", reason="needs LIEF: pip install 'unjank[dex]'")
    unmarked = bytearray(DEX.replace(b"~~D8", b"~~XY"))
    unmarked[8:12] = zlib.adler32(unmarked[12:]).to_bytes(4, "little")
    assert scan_dex(bytes(unmarked), "classes.dex")[0] == DexFile("classes.dex", None, None, None)


@pytest.mark.parametrize("dex", [b"", b"dex\n035\0", DEX[:-1], DEX[:300], DEX[:-1] + b"\xff"])
def test_damaged_code_is_refused(tmp_path: Path, dex: bytes) -> None:
    """Half a file would look like one without calls."""
    with pytest.raises(ArchiveError, match=r"classes\.dex is no dex file, or damaged"):
        scan_archive(_apk(tmp_path, dex))


def test_the_way_to_lief_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it dex code cannot be read; jars can."""
    monkeypatch.setitem(__import__("sys").modules, "lief", None)
    with pytest.raises(ArchiveError, match=r"pip install 'unjank\[dex\]'"):
        scan_archive(_apk(tmp_path))
    jar = tmp_path / "held.jar"
    jar.write_bytes(zip_bytes({"p/Held.class": holder_class(Holder())}))
    assert len(scan_archive(jar).sites) == 1


def test_an_apk_cannot_be_optimised(tmp_path: Path) -> None:
    """That has to be done before dexing."""
    with pytest.raises(ArchiveError, match="optimise the jars it is made of"):
        optimize_archive(_apk(tmp_path), tmp_path / "out.apk", OptimizeOptions())
