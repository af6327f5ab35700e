"""Single operations: through an updater, made direct, and on an Atomic object."""

import tempfile
from pathlib import Path

from unjank.bench._report import Report
from unjank.bench._run import Progress, Scale
from unjank.bench.updaters._timing import Times, columns, time_program
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
from unjank.bench.updaters.toolchain import make_jar

_BATCH_MS, _BATCHES, _WARM_UP_MS = 8, 9, 100


def measure(report: Report, scale: Scale, progress: Progress) -> None:
    """`varhandle_vs_updater_…`, `unsafe_vs_updater_…`, `atomic_vs_updater_…`: per operation, mode and JDK."""
    kit = compiler()
    if kit is None:
        report.leave_out("operations", "no JDK 17 or newer was found; install one, or name it in JAVA_HOME")
        return
    arguments = [str(_BATCH_MS / scale.divisor), str(_BATCHES), str(_WARM_UP_MS / scale.divisor)]
    with tempfile.TemporaryDirectory() as folder:
        progress("compiling and rewriting")
        program = _prepare(kit, Path(folder))
        for jdk in runtimes():
            found = time_program(report, scale, progress, jdk, program, arguments)
            for mode, variants in found.items():
                _compare_with_atomic(report, jdk, mode, variants[UPDATER])


def _prepare(kit: Jdk, folder: Path) -> Program:
    jar = make_jar(compile_program(["Operations"], kit, folder), folder / "operations.jar")
    rewritten = {target: rewrite(jar, target, folder) for target in TARGETS}
    classpaths = {UPDATER: [jar]} | {target: [output] for target, (output, _) in rewritten.items()}
    return Program("Operations", classpaths, {target: direct for target, (_, direct) in rewritten.items()})


def _compare_with_atomic(report: Report, jdk: Jdk, mode: str, runs: list[Times]) -> None:
    """The untouched program timed both, one after the other."""
    values = columns(runs)
    for name in values:
        if f"{name}_atomic" in values:
            ratio = f"atomic_vs_updater_{name}_{mode}_jdk{jdk.feature}"
            report.compare(ratio, values[name], values[f"{name}_atomic"], of="rate")
