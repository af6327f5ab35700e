"""Jars of libraries that use field updaters: from PyPI and Debian packages, fetched once into a folder.

The folder is `$UNJANK_CORPUS`, else `build/corpus` in the project. Wheels are pinned;
Debian's versions are those of the release.
"""

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO

from unjank import UnjankError

KERNEL = (
    "kotlin-jupyter-kernel",
    "0.19.0.944",
)  # 80 MB: the Kotlin compiler, kotlinx.coroutines 1.10
SPARK = ("pyspark", "4.0.1")  # 430 MB: netty 4.1, Guava, Scala, Hadoop, Curator, Vert.x
SMALL = ("libnetty-java", "libjctools-java", "libjboss-xnio-java", "libdisruptor-java")
LARGE = (
    *SMALL,
    "jruby",
    "kotlin",
    "libasync-http-client-java",
    "libactivemq-java",
    "libehcache-java",
    "libgrpc-java",
    "libguava-java",
    "libh2-java",
    "liblog4j2-java",
    "libtomcat9-java",
    "scala-library",
)

_PROJECT = Path(__file__).resolve().parents[1]


class CorpusError(UnjankError):
    """A package is neither here nor to be had."""


def folder() -> Path:
    """Where packages are kept."""
    return Path(os.environ.get("UNJANK_CORPUS", _PROJECT / "build" / "corpus"))


def wheel_jars(name: str, version: str) -> list[Path]:
    """The jars that a PyPI package carries.

    Raises:
        CorpusError: It could not be downloaded.
    """
    target = folder() / f"{name}-{version}"
    if not target.is_dir():
        _make(target, lambda making: _unpack_wheel(name, version, making))
    return _jars(target)


def debian_jars(names: Iterable[str]) -> list[Path]:
    """The jars of Debian packages: as installed, else downloaded without installing them.

    Raises:
        CorpusError: A package is not installed and could not be downloaded.
    """
    return [jar for name in names for jar in _installed(name) or _downloaded(name)]


def main_jar() -> Path:
    """The 82 MB jar with the Kotlin compiler, kotlinx.coroutines and what the Kotlin kernel needs."""
    (jar,) = (jar for jar in wheel_jars(*KERNEL) if jar.name.endswith("-all.jar"))
    return jar


def _jars(root: Path) -> list[Path]:
    """Each file once: Debian links one jar under several names."""
    return sorted(path for path in root.rglob("*.jar") if path.is_file() and not path.is_symlink())


def _make(target: Path, fill: Callable[[Path], None]) -> None:
    """Fills a temporary folder and then gives it its name, so that what is there is whole."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as making:
        fill(Path(making))
        kept = Path(making) / "jars"
        try:
            kept.rename(target)
        except OSError:
            if not target.is_dir():  # else someone else was faster
                raise


def _unpack_wheel(name: str, version: str, making: Path) -> None:
    pip = [sys.executable, "-m", "pip", "-q", "--disable-pip-version-check", "download", "--no-deps"]
    _call([*pip, "-d", str(making), f"{name}=={version}"])
    (archive,) = (path for path in making.iterdir() if path.is_file())
    for number, (jar, content) in enumerate(_packed_jars(archive)):
        output = making / "jars" / f"{number}" / jar
        output.parent.mkdir(parents=True)
        with output.open("wb") as file:
            shutil.copyfileobj(content, file)


def _packed_jars(archive: Path) -> Iterator[tuple[str, IO[bytes]]]:
    """File names and contents of the jars in a wheel or a source distribution."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            for entry in wheel.namelist():
                if entry.endswith(".jar"):
                    yield Path(entry).name, wheel.open(entry)
        return
    with tarfile.open(archive) as source:
        for member in source:
            content = source.extractfile(member) if member.name.endswith(".jar") else None
            if content is not None:
                yield Path(member.name).name, content


def _installed(package: str) -> list[Path]:
    if shutil.which("dpkg-query") is None:
        return []
    done = subprocess.run(["dpkg-query", "-L", package], capture_output=True, text=True, check=False)
    files = [Path(line) for line in done.stdout.splitlines() if line.endswith(".jar")]
    return sorted(path for path in files if path.is_file() and not path.is_symlink())


def _downloaded(package: str) -> list[Path]:
    target = folder() / package
    if not target.is_dir():
        _make(target, lambda making: _unpack_debian(package, making))
    return _jars(target)


def _unpack_debian(package: str, making: Path) -> None:
    _call(["apt-get", "-q", "download", package], cwd=making)
    (archive,) = making.glob("*.deb")
    _call(["dpkg-deb", "-x", str(archive), str(making / "jars")])


def _call(command: list[str], cwd: Path | None = None) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd, timeout=900)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CorpusError(f"{command[-1]} could not be fetched: {error}") from None
    if done.returncode != 0:
        words = (done.stderr.strip() or f"exit {done.returncode}").splitlines()
        raise CorpusError(f"{command[-1]} could not be fetched: {words[-1]}")
