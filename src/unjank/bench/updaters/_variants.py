"""A program's variants: untouched, and rewritten for each target."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from unjank.bench.updaters.jdks import Jdk, find_jdks, one_per_feature
from unjank.bench.updaters.toolchain import compile_java
from unjank.jvm import Decision, OptimizeOptions, optimize_archive
from unjank.jvm.model import Target

UPDATER = "updater"
TARGETS: tuple[Target, ...] = ("varhandle", "unsafe")
OLDEST = 17
_WARNS_OF_UNSAFE = 24  # JDK 24 warns at each program's first use, and later releases will refuse (JEP 498)
_RELEASE = 11
_JAVA = Path(__file__).with_name("java")

MODES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "int": ("-Xint",),
        "c1": ("-XX:TieredStopAtLevel=1",),
        "c2": ("-XX:-TieredCompilation",),
    }
)
"""The JVM's options: interpreter only, client compiler only, server compiler only."""


@dataclass(frozen=True)
class Program:
    """What is run, in each variant.

    Attributes:
        main: The class with `main`.
        classpaths: By variant.
        direct: By target, how many calls the rewriter made direct.
    """

    main: str
    classpaths: Mapping[str, Sequence[Path]]
    direct: Mapping[str, int]


def runtimes() -> list[Jdk]:
    """One of each feature release from 17 on."""
    return [jdk for jdk in one_per_feature(find_jdks()) if jdk.feature >= OLDEST]


def compiler() -> Jdk | None:
    """The oldest JDK from 17 on that has a compiler."""
    return next((jdk for jdk in find_jdks() if jdk.javac and jdk.feature >= OLDEST), None)


def variants_for(jdk: Jdk) -> list[str]:
    """The untouched program, and the targets that make sense on this runtime."""
    return [UPDATER, *(target for target in TARGETS if target != "unsafe" or jdk.feature < _WARNS_OF_UNSAFE)]


def compile_program(names: Sequence[str], kit: Jdk, folder: Path, libraries: Sequence[Path] = ()) -> Path:
    """Compiles sources of this package, with the clock they all use.

    Returns:
        The folder of classes.
    """
    sources = [_JAVA / f"{name}.java" for name in (*names, "Clock")]
    compile_java(kit, sources, folder / "classes", release=_RELEASE, classpath=libraries)
    return folder / "classes"


def rewrite(jar: Path, target: Target, folder: Path) -> tuple[Path, int]:
    """Rewrites a jar for one target.

    Returns:
        The new jar, and how many calls are direct in it.
    """
    output = folder / f"{jar.stem}-{target}.jar"
    result = optimize_archive(jar, output, OptimizeOptions(target=target))
    return output, sum(site.decision is Decision.DIRECT for site in result.sites)
