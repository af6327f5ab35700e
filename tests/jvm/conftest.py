"""Fixtures for tests of class files: a Java compiler, and jars made of what it compiles."""

import shutil
import subprocess
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

JAVA = Path(__file__).parent / "java" / "p"
"""Programs that tests compile."""

Compile = Callable[..., Path]
"""Takes sources by file name, and javac's options; gives the folder of class files."""


@pytest.fixture(scope="session")
def compile_java(tmp_path_factory: pytest.TempPathFactory) -> Compile:
    """Compiles Java sources, the same ones once."""
    javac = shutil.which("javac")
    if javac is None:
        pytest.skip("needs a JDK: no javac on PATH")

    done: dict[object, Path] = {}

    def compile_once(sources: Mapping[str, str], *options: str) -> Path:
        key = (tuple(sources.items()), options)
        if key not in done:
            done[key] = compile_sources(sources, *options)
        return done[key]

    def compile_sources(sources: Mapping[str, str], *options: str) -> Path:
        folder = tmp_path_factory.mktemp("java")
        for name, text in sources.items():
            path = folder / "src" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        files = [str(folder / "src" / name) for name in sources]
        target = str(folder / "classes")
        ran = subprocess.run(
            [javac, "-nowarn", "-d", target, *options, *files], capture_output=True, text=True, check=False
        )
        assert ran.returncode == 0, ran.stderr
        return folder / "classes"

    return compile_once


def make_jar(jar: Path, classes: Path, extra: Mapping[str, bytes] | None = None) -> Path:
    """Packs a folder of class files, and other entries after them."""
    with zipfile.ZipFile(jar, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(classes.rglob("*.class")):
            archive.writestr(zipfile.ZipInfo(path.relative_to(classes).as_posix()), path.read_bytes())
        for name, content in (extra or {}).items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return jar


def run_java(jar: Path, main: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Runs a program with all its classes verified."""
    java = shutil.which("java")
    if java is None:
        pytest.skip("needs a JDK: no java on PATH")
    command = [
        java,
        "-Xverify:all",
        "-Xshare:auto",
        "-XX:TieredStopAtLevel=1",
        *options,
        "-cp",
        str(jar),
        main,
    ]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
