"""What kotlinx.coroutines gains: launch and cancel, a mutex, a channel."""

import os
import tempfile
import zipfile
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

from unjank import UnjankError
from unjank.bench._report import Report
from unjank.bench._run import Progress, Scale
from unjank.bench.updaters._timing import time_program
from unjank.bench.updaters._variants import (
    TARGETS,
    UPDATER,
    Program,
    compile_program,
    compiler,
    rewrite,
    runtimes,
)
from unjank.bench.updaters.jdks import Jdk

JARS_VARIABLE = "UNJANK_COROUTINES"
_WHEEL = "kotlin-jupyter-kernel"  # its jars have kotlinx.coroutines and the Kotlin library
_PACKAGE = "kotlinx/coroutines/"
_LIBRARY = "kotlin/"
_BATCH_MS, _BATCHES, _WARM_UP_MS = 10, 9, 400


def measure(report: Report, scale: Scale, progress: Progress) -> None:
    """`varhandle_vs_updater_launch_cancel_…` and its like, per mode and JDK; absent without the jars."""
    kit, jars = compiler(), find_jars()
    if kit is None or not jars:
        report.leave_out("coroutines", _missing(kit))
        return
    arguments = [str(_BATCH_MS / scale.divisor), str(_BATCHES), str(_WARM_UP_MS / scale.divisor)]
    with tempfile.TemporaryDirectory() as folder:
        progress("compiling and rewriting")
        program = _prepare(kit, jars, Path(folder))
        for jdk in runtimes():
            time_program(report, scale, progress, jdk, program, arguments)


def _missing(kit: Jdk | None) -> str:
    if kit is None:
        return "no JDK 17 or newer was found; install one, or name it in JAVA_HOME"
    return (
        "no kotlinx.coroutines was found; pip install --no-deps kotlin-jupyter-kernel, "
        f"or name its jar and that of the Kotlin library in {JARS_VARIABLE}, with ':' between"
    )


def find_jars() -> list[Path]:
    """Jars with kotlinx.coroutines and the Kotlin library: of the variable, else of the installed package."""
    named = os.environ.get(JARS_VARIABLE)
    if named:
        return [Path(name) for name in named.split(os.pathsep)]
    try:
        files = metadata.distribution(_WHEEL).files or []
    except metadata.PackageNotFoundError:
        return []
    return [Path(str(file.locate())) for file in files if file.suffix == ".jar"]


def _prepare(kit: Jdk, jars: list[Path], folder: Path) -> Program:
    """The classes that matter are taken out of what may be a jar of everything."""
    coroutines = pick(jars, _PACKAGE, folder / "coroutines.jar")
    library = pick(jars, _LIBRARY, folder / "library.jar")
    classes = compile_program(["Coroutines"], kit, folder, [coroutines, library])
    rewritten = {target: rewrite(coroutines, target, folder) for target in TARGETS}
    used = {UPDATER: coroutines} | {target: output for target, (output, _) in rewritten.items()}
    classpaths = {variant: [classes, jar, library] for variant, jar in used.items()}
    return Program("Coroutines", classpaths, {target: direct for target, (_, direct) in rewritten.items()})


def pick(jars: Sequence[Path], prefix: str, output: Path) -> Path:
    """Copies the classes of a package into a jar of their own; of doubles, the first as a class path would.

    Raises:
        UnjankError: No jar has any, or one cannot be read.
    """
    seen: set[str] = set()
    with zipfile.ZipFile(output, "w") as target:
        for jar in jars:
            try:
                with zipfile.ZipFile(jar) as source:
                    for entry in source.infolist():
                        name = entry.filename
                        if name.startswith(prefix) and name.endswith(".class") and name not in seen:
                            seen.add(name)
                            target.writestr(entry, source.read(entry))
            except (OSError, zipfile.BadZipFile) as error:
                raise UnjankError(f"cannot read {jar}: {error}; name other jars in {JARS_VARIABLE}") from None
    if not seen:
        raise UnjankError(
            f"no classes {prefix}… in {', '.join(map(str, jars))}; name others in {JARS_VARIABLE}"
        )
    return output
