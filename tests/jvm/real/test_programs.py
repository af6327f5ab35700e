"""Real programs on rewritten libraries do what they did: coroutines, netty, JCTools, the Kotlin compiler."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.jvm.real.rewriting import Rewritten, Way, first_difference, runs

from unjank.bench.updaters import Jdk
from unjank.bench.updaters.coroutines import pick
from unjank.bench.updaters.toolchain import Ran, compile_java
from unjank.jvm import OptimizeResult

_PROGRAMS = Path(__file__).with_name("programs")
_WAYS = [Way("varhandle"), Way("unsafe"), Way("varhandle", checked=True)]
_VERIFY = "-Xverify:all"
_QUICK = "-XX:TieredStopAtLevel=1"  # the compiler runs for seconds only
_COMPILER = "org.jetbrains.kotlin.cli.jvm.K2JVMCompiler"


def _compile_kotlin(jdk: Jdk, compiler: Sequence[Path], libraries: Sequence[Path], output: Path) -> Ran:
    """Compiles the coroutines program against these libraries."""
    arguments = ["-no-stdlib", "-no-reflect", "-cp", ":".join(map(str, libraries)), "-d", str(output)]
    return runs(jdk, _COMPILER, compiler, _QUICK, arguments=[*arguments, str(_PROGRAMS / "Coroutines.kt")])


def _digests(folder: Path) -> dict[str, str]:
    files = sorted(folder.rglob("*.class"))
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.fixture(scope="module")
def coroutines(kernel_jars: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """kotlinx.coroutines alone."""
    return pick(kernel_jars, "kotlinx/coroutines/", tmp_path_factory.mktemp("coroutines") / "coroutines.jar")


@pytest.fixture(scope="module")
def library(kernel_jars: list[Path]) -> Path:
    """The Kotlin standard library."""
    (jar,) = (path for path in kernel_jars if path.name.startswith("kotlin-stdlib"))
    return jar


@pytest.fixture(scope="module")
def program(compiler: Jdk, kernel_jars: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The classes of the coroutines program."""
    output = tmp_path_factory.mktemp("program")
    assert _compile_kotlin(compiler, kernel_jars, kernel_jars, output).stdout == ""
    return output


def test_coroutines(jdk: Jdk, program: Path, coroutines: Path, library: Path, tmp_path: Path) -> None:
    """Channels, mutex, semaphore, select, cancellation, exceptions, flows: same transcript, in each mode."""
    before = runs(jdk, "CoroutinesKt", [program, coroutines, library]).stdout
    assert len(before.splitlines()) > 50
    for way in _WAYS:
        output = tmp_path / f"{way}.jar"
        way.rewrite(coroutines, output)
        for mode in ("-Xmixed", "-Xint"):
            after = runs(jdk, "CoroutinesKt", [program, output, library], _VERIFY, mode).stdout
            assert first_difference(before, after) == "", (way, mode)


@pytest.mark.parametrize("name", ["NettyEcho", "Queues"])
def test_java_libraries(
    jdk: Jdk, compiler: Jdk, debian_jars: list[Path], rewritten_debian: Rewritten, tmp_path: Path, name: str
) -> None:
    """An echo server with its clients, reference counts and timers; queues with several producers."""
    compile_java(compiler, [_PROGRAMS / f"{name}.java"], tmp_path, release=11, classpath=debian_jars)
    before = runs(jdk, name, [tmp_path, *debian_jars]).stdout
    assert len(before.splitlines()) >= 10
    for way in _WAYS:
        after = runs(jdk, name, [tmp_path, *rewritten_debian(way)[0]], _VERIFY).stdout
        assert first_difference(before, after) == "", way


def test_kotlin_compiler(
    jdk: Jdk, kernel_jars: list[Path], program: Path, rewritten_compiler: OptimizeResult, tmp_path: Path
) -> None:
    """The rewritten compiler compiles the coroutines program to the same bytes, and is as silent."""
    others = [jar for jar in kernel_jars if not jar.name.endswith("-all.jar")]
    done = _compile_kotlin(jdk, [Path(rewritten_compiler.output), *others], kernel_jars, tmp_path)
    assert done.stdout == ""
    assert _digests(tmp_path) == _digests(program)
    assert len(_digests(program)) > 50
