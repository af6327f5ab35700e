"""Compiles Java, packs jars, runs programs."""

import os
import subprocess
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from unjank._errors import UnjankError
from unjank.bench.updaters.jdks import Jdk

_EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest a zip can say: jars of the same classes are the same bytes
_ENVIRONMENT_OPTIONS = ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH")


@dataclass(frozen=True)
class Ran:
    """How a program ended.

    Attributes:
        exit_code: 0 if it ended well.
        stdout: What it said.
        stderr: What it, and the JVM, warned of.
    """

    exit_code: int
    stdout: str
    stderr: str


def compile_java(
    jdk: Jdk, sources: Iterable[Path], output: Path, *, release: int, classpath: Sequence[Path] = ()
) -> None:
    """Compiles sources into a folder of classes.

    Args:
        jdk: With a compiler.
        sources: Files.
        output: The folder; made if it is not there.
        release: Feature release whose language and class-file version are used.
        classpath: Jars and folders that the sources refer to.

    Raises:
        UnjankError: There is no compiler, or it refused the sources.
    """
    if jdk.javac is None:
        raise UnjankError(f"{jdk.home} has no compiler; install a JDK (openjdk-17-jdk-headless)")
    output.mkdir(parents=True, exist_ok=True)
    options = ["-nowarn", "-g", "-encoding", "UTF-8", "--release", str(release), "-d", str(output)]
    if classpath:
        options += ["-cp", _joined(classpath)]
    done = _call([str(jdk.javac), *options, *map(str, sources)], timeout_s=300)
    if done.exit_code != 0:
        raise UnjankError(f"{jdk.javac} refused the sources:\n{done.stderr.strip()}")


def make_jar(folder: Path, jar: Path) -> Path:
    """Packs a folder, sorted by name; the same files give the same bytes."""
    with zipfile.ZipFile(jar, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            entry = zipfile.ZipInfo(file.relative_to(folder).as_posix(), _EPOCH)
            archive.writestr(entry, file.read_bytes(), zipfile.ZIP_DEFLATED)
    return jar


def run_java(
    jdk: Jdk,
    main: str,
    arguments: Sequence[str] = (),
    *,
    classpath: Sequence[Path],
    options: Sequence[str] = (),
    timeout_s: float = 300,
) -> Ran:
    """Runs a program to its end.

    Args:
        jdk: Which runtime.
        main: The class with `main`.
        arguments: Its arguments.
        classpath: Jars and folders.
        options: Of the JVM.
        timeout_s: After this the program is killed.

    Raises:
        UnjankError: It did not end in time.
    """
    command = [str(jdk.java), *options, "-cp", _joined(classpath), main, *arguments]
    return _call(command, timeout_s)


def _joined(classpath: Sequence[Path]) -> str:
    return os.pathsep.join(map(str, classpath))


def _call(command: list[str], timeout_s: float) -> Ran:
    """Without the options that the environment would add: they change what is measured."""
    environment = {key: value for key, value in os.environ.items() if key not in _ENVIRONMENT_OPTIONS}
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=timeout_s,
            env=environment,
        )
    except subprocess.TimeoutExpired:
        raise UnjankError(f"{command[0]} did not end within {timeout_s:g} s and was killed") from None
    return Ran(done.returncode, done.stdout, done.stderr)
