"""Does a jar's every class load, verify and link on a JVM? Asked before and after a rewrite."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from unjank import UnjankError
from unjank.bench.updaters import Jdk
from unjank.bench.updaters.toolchain import compile_java, run_java
from unjank.jvm import ArchiveError, OptimizeOptions, OptimizeResult, optimize_archive

LINKED = "linked"
_MISSING = "java.lang.NoClassDefFoundError"
_SOURCE = Path(__file__).with_name("LinkAll.java")
_OPTIONS = ("-Xverify:all", "-XX:TieredStopAtLevel=1", "-Xmx2g")


def compile_harness(kit: Jdk, folder: Path) -> Path:
    """Compiles the program that links classes; returns the folder with its class."""
    compile_java(kit, [_SOURCE], folder, release=11)
    return folder


def outcomes(jdk: Jdk, harness: Path, jars: Sequence[Path], others: Sequence[Path] = ()) -> dict[str, str]:
    """What becomes of each class.

    Args:
        jdk: Where.
        harness: What `compile_harness()` gave.
        jars: All classes of these are linked.
        others: More jars to find classes in.

    Returns:
        `"linked"`, or the error's first line, by class name.

    Raises:
        UnjankError: The JVM itself failed.
    """
    classpath = [*jars, *others, harness]
    done = run_java(
        jdk, "LinkAll", list(map(str, jars)), classpath=classpath, options=_OPTIONS, timeout_s=600
    )
    if done.exit_code != 0:
        raise UnjankError(f"linking failed on {jdk.home}: {done.stderr.strip()[-500:]}")
    return dict(line.split(": ", 1) for line in done.stdout.splitlines())


def rewrite_all(
    jars: Sequence[Path], folder: Path, options: OptimizeOptions
) -> tuple[list[Path], list[OptimizeResult]]:
    """Rewrites each jar into a folder.

    Returns:
        The jars in the same order, and what was done to them. A jar that the rewriter refuses, such as a
        module that may not use `sun.misc.Unsafe`, stays as it is.
    """
    outputs: list[Path] = []
    results: list[OptimizeResult] = []
    for number, jar in enumerate(jars):
        output = folder / f"{number}-{jar.name}"
        try:
            results.append(optimize_archive(jar, output, options))
        except ArchiveError:
            output = jar
        outputs.append(output)
    return outputs, results


def differences(
    before: Mapping[str, str], after: Mapping[str, str], results: Sequence[OptimizeResult]
) -> dict[str, tuple[str | None, str | None]]:
    """Classes whose outcome is another, or that came or went without the rewriter saying so.

    Returns:
        Outcome before and after, by class name; empty if everything is as it was.
    """
    added = {
        name.rpartition("!/")[2].removesuffix(".class").replace("/", ".")
        for result in results
        for name in result.classes_added
    }
    expected = {**before, **dict.fromkeys(added, LINKED)}
    return {
        name: (expected.get(name), after.get(name))
        for name in expected.keys() | after.keys()
        if _essence(expected.get(name)) != _essence(after.get(name))
    }


def _essence(outcome: str | None) -> str | None:
    """Without which of several missing classes was looked for first: that differs from run to run."""
    return _MISSING if outcome and outcome.startswith(_MISSING) else outcome
