"""Java is compiled, packed and run as asked, and what fails says why."""

import zipfile
from pathlib import Path

import pytest

from unjank import UnjankError
from unjank.bench.updaters import Jdk, find_jdks
from unjank.bench.updaters.toolchain import compile_java, make_jar, run_java

_PROGRAM = """
public class Told {
  public static void main(String[] arguments) {
    System.out.println(arguments[0] + " " + System.getProperty("word"));
    System.err.println("warned");
    System.exit(arguments.length);
  }
}
"""


@pytest.fixture(scope="module")
def kit() -> Jdk:
    """A JDK with a compiler."""
    kits = [jdk for jdk in find_jdks() if jdk.javac and jdk.feature >= 17]
    if not kits:
        pytest.skip("no JDK 17 or newer with a compiler; install openjdk-17-jdk-headless")
    return kits[0]


def test_a_program_is_compiled_packed_and_run(
    kit: Jdk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Output, warnings and exit code are told apart; options of the environment do not get in."""
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Dword=environment")
    source = tmp_path / "Told.java"
    source.write_text(_PROGRAM)
    compile_java(kit, [source], tmp_path / "classes", release=11)
    jar = make_jar(tmp_path / "classes", tmp_path / "told.jar")
    done = run_java(kit, "Told", ["first", "second"], classpath=[jar], options=["-Dword=option"])
    assert (done.exit_code, done.stdout, done.stderr) == (2, "first option\n", "warned\n")


def test_a_mistake_is_the_compilers_word(kit: Jdk, tmp_path: Path) -> None:
    """What javac says is in the error."""
    source = tmp_path / "Wrong.java"
    source.write_text("class Wrong { int n = text; }")
    with pytest.raises(UnjankError, match="cannot find symbol"):
        compile_java(kit, [source], tmp_path / "classes", release=11)


def test_a_runtime_cannot_compile(tmp_path: Path) -> None:
    """A home without javac is refused with the way out."""
    with pytest.raises(UnjankError, match="install a JDK"):
        compile_java(Jdk(tmp_path, "17", "test"), [], tmp_path, release=11)


def test_a_program_that_does_not_end_is_killed(kit: Jdk, tmp_path: Path) -> None:
    """The limit ends it, with an error instead of waiting for ever."""
    source = tmp_path / "Ever.java"
    source.write_text("class Ever { public static void main(String[] a) { for (;;) Thread.onSpinWait(); } }")
    compile_java(kit, [source], tmp_path / "classes", release=11)
    with pytest.raises(UnjankError, match=r"did not end within 0\.3 s"):
        run_java(kit, "Ever", classpath=[tmp_path / "classes"], timeout_s=0.3)


def test_the_same_classes_make_the_same_jar(tmp_path: Path) -> None:
    """Names are sorted and times are fixed."""
    for name in ("b/B.class", "a/A.class"):
        (tmp_path / "in" / name).parent.mkdir(parents=True)
        (tmp_path / "in" / name).write_bytes(name.encode())
    first = make_jar(tmp_path / "in", tmp_path / "1.jar")
    assert zipfile.ZipFile(first).namelist() == ["a/A.class", "b/B.class"]
    assert first.read_bytes() == make_jar(tmp_path / "in", tmp_path / "2.jar").read_bytes()
