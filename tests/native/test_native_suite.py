"""Builds the C++ core on its own, as `native/CMakeLists.txt` says it can, and runs each of its tests."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
BUILD = PROJECT / "build" / "native"
_DECLARATION = re.compile(r"^\s*unjank_native_test\(\s*(\w+)", re.MULTILINE)
_LOOP = re.compile(r"foreach\((\w+) ([^)]*)\)(.*?)endforeach\(\)", re.DOTALL)


def _unrolled(loop: re.Match[str]) -> str:
    variable, values, body = loop.groups()
    return "".join(body.replace(f"${{{variable}}}", value) for value in values.split())


def _declared_tests() -> list[str]:
    """Read from the build files, since pytest wants the names before anything is built."""
    files = sorted((PROJECT / "native/tests").glob("*/CMakeLists.txt"))
    texts = [_LOOP.sub(_unrolled, file.read_text()) for file in files]
    return [name for text in texts for name in _DECLARATION.findall(text)]


def _tool(name: str) -> str:
    # The development environment carries cmake, ctest and ninja next to the interpreter.
    path = shutil.which(name, path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    return path or pytest.skip(f"no {name} on PATH (make venv installs it)")


def _compiler() -> str:
    candidates = (os.environ.get("CXX"), "c++", "g++", "clang++")
    path = next((path for name in candidates if name and (path := shutil.which(name))), None)
    return path or pytest.skip("no C++ compiler: c++, g++ or clang++ on PATH, or CXX")


def _run(*command: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, input=stdin, capture_output=True, text=True, check=False)


@pytest.fixture(scope="session")
def suite() -> Path:
    """The folder the native tests are built in, configured."""
    cmake, ninja, compiler = _tool("cmake"), _tool("ninja"), _compiler()
    check = (compiler, "-x", "c++", "-fsyntax-only", "-")
    if _run(*check, stdin="#include <doctest/doctest.h>\n").returncode != 0:
        pytest.skip("no header doctest/doctest.h (Debian: apt install doctest-dev)")
    options = [
        "-DUNJANK_NATIVE_TESTS=ON",
        f"-DCMAKE_MAKE_PROGRAM={ninja}",
        f"-DCMAKE_CXX_COMPILER={compiler}",
    ]
    configured = _run(cmake, "-S", str(PROJECT / "native"), "-B", str(BUILD), "-G", "Ninja", *options)
    assert configured.returncode == 0, configured.stdout + configured.stderr
    return BUILD


def test_ctest_knows_the_declared_tests(suite: Path) -> None:
    """No test executable is built without being run here, and none is run that is not there."""
    listed = _run(_tool("ctest"), "--test-dir", str(suite), "-N").stdout
    assert sorted(re.findall(r"Test\s+#\d+: (\w+)", listed)) == sorted(_declared_tests())


@pytest.mark.parametrize("name", _declared_tests())
def test_native(name: str, suite: Path) -> None:
    """A test executable of the C++ core builds and passes."""
    built = _run(_tool("cmake"), "--build", str(suite), "--target", name, "--parallel", "2")
    assert built.returncode == 0, built.stdout + built.stderr
    options = ("-R", f"^{name}$", "--output-on-failure", "--no-tests=error")
    result = _run(_tool("ctest"), "--test-dir", str(suite), *options)
    assert result.returncode == 0, result.stdout + result.stderr
