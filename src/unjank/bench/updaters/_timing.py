"""Runs a program's variants in turn and notes how they compare."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

from unjank import UnjankError
from unjank.bench._report import Report
from unjank.bench._run import Progress, Scale, interleaved
from unjank.bench.updaters._variants import MODES, UPDATER, Program, variants_for
from unjank.bench.updaters.jdks import Jdk
from unjank.bench.updaters.toolchain import run_java

Times = dict[str, float]


def time_program(
    report: Report,
    scale: Scale,
    progress: Progress,
    jdk: Jdk,
    program: Program,
    arguments: Sequence[str],
) -> dict[str, dict[str, list[Times]]]:
    """Runs each variant once a round, each in a process of its own, in every mode.

    Notes `VARIANT_vs_updater_NAME_MODE_jdkN`, rate over rate, for each variant and each thing
    that the program times; above 1 the direct calls are faster.

    Returns:
        By mode and variant what each run printed: name and ns.
    """
    found: dict[str, dict[str, list[Times]]] = {}
    for mode, options in MODES.items():
        progress(f"{program.main}, Java {jdk.feature}, {mode}")
        sides: dict[str, Callable[[], Times]] = {
            variant: partial(_run, jdk, program.main, program.classpaths[variant], options, arguments)
            for variant in variants_for(jdk)
        }
        found[mode] = interleaved(sides, scale.repeats)
        _note(report, jdk, mode, program, found[mode])
    return found


def _note(report: Report, jdk: Jdk, mode: str, program: Program, runs: dict[str, list[Times]]) -> None:
    for variant, times in runs.items():
        for name, values in columns(times).items():
            facts = {
                "variant": variant,
                "mode": mode,
                "java": jdk.version,
                "direct": program.direct.get(variant, 0),
            }
            report.add(name, "ns", values, **facts)
    before = columns(runs[UPDATER])
    for variant in runs.keys() - {UPDATER}:
        after = columns(runs[variant])
        for name in before.keys() & after.keys():
            if not name.endswith("_atomic"):
                ratio = f"{variant}_vs_updater_{name}_{mode}_jdk{jdk.feature}"
                report.compare(ratio, before[name], after[name], of="rate")


def columns(times: Iterable[Times]) -> dict[str, list[float]]:
    """Of each name its values, one per run."""
    found: dict[str, list[float]] = {}
    for run in times:
        for name, value in run.items():
            found.setdefault(name, []).append(value)
    return found


def _run(
    jdk: Jdk, main: str, classpath: Sequence[Path], options: Sequence[str], arguments: Sequence[str]
) -> Times:
    done = run_java(jdk, main, arguments, classpath=classpath, options=options)
    if done.exit_code != 0:
        words = done.stderr.strip().splitlines()
        raise UnjankError(f"{main} failed on {jdk.home}: {words[0] if words else f'exit {done.exit_code}'}")
    return read_times(done.stdout)


def read_times(printed: str) -> Times:
    """Reads lines of a name and a number."""
    return {name: float(value) for name, value in map(str.split, printed.splitlines())}
