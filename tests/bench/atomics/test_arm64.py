"""The ARM64 build, cross-compiled and run under qemu: that it counts right, in both ways. No figures."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PROJECT = Path(__file__).resolve().parents[3]
BUILD = PROJECT / "build" / "native-aarch64"
QEMU = shutil.which("qemu-aarch64") or shutil.which("qemu-aarch64-static")
COMPILER = shutil.which("aarch64-linux-gnu-g++")

pytestmark = [
    pytest.mark.skipif(COMPILER is None, reason="no aarch64-linux-gnu-g++ (Debian: g++-aarch64-linux-gnu)"),
    pytest.mark.skipif(QEMU is None, reason="no qemu-aarch64 (Debian: qemu-user)"),
]


def _run(*command: str) -> str:
    # cmake and ninja are installed beside the interpreter
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command, cwd=PROJECT, capture_output=True, text=True, check=False, env={**os.environ, "PATH": path}
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def program() -> Path:
    """The check program, built as its toolchain file says."""
    toolchain = PROJECT / "cmake" / "aarch64-linux-gnu.cmake"
    _run("cmake", "-S", "native", "-B", str(BUILD), "-G", "Ninja", f"-DCMAKE_TOOLCHAIN_FILE={toolchain}")
    _run("cmake", "--build", str(BUILD), "--target", "atomics_check", "--parallel", "2")
    return BUILD / "bench" / "atomics_check"


def _counted(program: Path, cpu: str) -> list[dict[str, Any]]:
    assert QEMU is not None
    found: list[dict[str, Any]] = json.loads(_run(QEMU, "-cpu", cpu, str(program)))
    return found


def test_both_instructions_count_right_in_one_run(program: Path) -> None:
    """Three threads each, every operation and layout: nothing is lost."""
    cases = _counted(program, "max")
    assert {(c["instructions"], c["operation"], c["layout"]) for c in cases} == {
        (how, operation, layout)
        for how in ("llsc", "lse")
        for operation in ("lock", "cas_loop", "fetch_add")
        for layout in ("shared", "packed", "padded")
    }
    assert all(case["counted"] == case["operations"] > 0 for case in cases)


def test_a_cpu_without_lse_runs_the_others(program: Path) -> None:
    """A Cortex-A53 has none: its run leaves it out, instead of dying of an illegal instruction."""
    assert {case["instructions"] for case in _counted(program, "cortex-a53")} == {"llsc"}


@pytest.mark.parametrize(
    ("kernels", "there", "not_there"),
    [
        ("kLlScKernels", {"ldaxr", "stlxr"}, {"casal", "ldaddal"}),
        ("kLseKernels", {"casal", "ldaddal"}, {"ldaxr", "stlxr"}),
    ],
)
def test_each_build_has_its_own_instructions_only(
    program: Path, kernels: str, there: set[str], not_there: set[str]
) -> None:
    """The disassembly proves that LL/SC is compared with LSE, and not with a choice at run time."""
    del program  # it has been built
    (module,) = BUILD.glob(f"bench/CMakeFiles/{kernels}.dir/*.o")
    words = set(_run("aarch64-linux-gnu-objdump", "-d", str(module)).split())
    assert there <= words
    assert not words & not_there
