"""Jars that are modules: sun.misc.Unsafe only where the module requires it."""

import zipfile
from pathlib import Path

import pytest
from tests.jvm.classes import Holder, holder_class, zip_bytes
from tests.jvm.conftest import Compile

from unjank.jvm import ArchiveError, OptimizeOptions, optimize_archive
from unjank.jvm.archive.module_info import required_modules
from unjank.jvm.classfile import parse_class

HELD = holder_class(Holder())


def _module(compile_java: Compile, requires: str) -> bytes:
    sources = {"module-info.java": f"module m {{ {requires} }}", "p/X.java": "package p; class X {}"}
    return (compile_java(sources) / "module-info.class").read_bytes()


def test_required_modules_are_read(compile_java: Compile) -> None:
    """Names from the descriptor, java.base among them."""
    data = _module(compile_java, "requires jdk.unsupported; requires static java.logging;")
    assert required_modules(parse_class(data)) == {"java.base", "jdk.unsupported", "java.logging"}


@pytest.mark.parametrize("place", ["module-info.class", "META-INF/versions/9/module-info.class"])
def test_a_module_without_jdk_unsupported_is_refused(
    compile_java: Compile, tmp_path: Path, place: str
) -> None:
    """For Unsafe; the error names the other target, which is the default for jars."""
    jar = tmp_path / "in.jar"
    jar.write_bytes(zip_bytes({place: _module(compile_java, ""), "p/Held.class": HELD}))
    with pytest.raises(ArchiveError, match=r"does not require jdk\.unsupported.*--target varhandle"):
        optimize_archive(jar, tmp_path / "out.jar", OptimizeOptions(target="unsafe"))
    assert optimize_archive(jar, tmp_path / "out.jar", OptimizeOptions()).target == "varhandle"


def test_a_module_with_jdk_unsupported_may_use_unsafe(compile_java: Compile, tmp_path: Path) -> None:
    """As kotlinx.coroutines does."""
    jar = tmp_path / "in.jar"
    module = _module(compile_java, "requires jdk.unsupported;")
    jar.write_bytes(zip_bytes({"module-info.class": module, "p/Held.class": HELD}))
    optimize_archive(jar, tmp_path / "out.jar", OptimizeOptions(target="unsafe"))
    with zipfile.ZipFile(tmp_path / "out.jar") as out:
        assert out.read("module-info.class") == module
        assert b"sun/misc/Unsafe" in out.read("p/Held.class")
