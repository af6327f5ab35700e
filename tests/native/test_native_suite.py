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


def _declared_tests() -> list[str]:
    files = sorted((PROJECT / "native/tests").glob("*/CMakeLists.txt"))
    return [name for file in files for name in _DECLARATION.findall(file.read_text())]


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
def built_suite() -> Path:
    """The folder the native tests are built in."""
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
    built = _run(cmake, "--build", str(BUILD), "--parallel", "2")
    assert built.returncode == 0, built.stdout + built.stderr
    return BUILD


def test_ctest_knows_the_declared_tests(built_suite: Path) -> None:
    """No test executable is built without being run here, and none is run that is not there."""
    listed = _run(_tool("ctest"), "--test-dir", str(built_suite), "-N").stdout
    assert sorted(re.findall(r"Test\s+#\d+: (\w+)", listed)) == sorted(_declared_tests())


@pytest.mark.parametrize("name", _declared_tests())
def test_native(name: str, built_suite: Path) -> None:
    """A test executable of the C++ core passes."""
    options = ("-R", f"^{name}$", "--output-on-failure", "--no-tests=error")
    result = _run(_tool("ctest"), "--test-dir", str(built_suite), *options)
    assert result.returncode == 0, result.stdout + result.stderr
