"""Compiles and loads the extensions that tests bring along."""

import importlib.util
import os
import subprocess
import sysconfig
from pathlib import Path
from types import ModuleType

from unjank.looper import get_include

_HERE = Path(__file__).parent
_INCLUDES = (get_include(), sysconfig.get_path("include"), str(_HERE.parents[1] / "native"))


def load_extension(source: str, folder: Path) -> ModuleType:
    """The module of `source`, a C or C++ file beside this one, built in `folder`; its state is fresh."""
    path = _HERE / source
    library = folder / f"{path.stem}{sysconfig.get_config_var('EXT_SUFFIX')}"
    compiler = os.environ.get("CC", "cc") if path.suffix == ".c" else os.environ.get("CXX", "c++")
    standard = [] if path.suffix == ".c" else ["-std=c++20"]
    includes = [f"-I{folder}" for folder in _INCLUDES]
    flags = [
        "-shared",
        "-fPIC",
        "-O1",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-Wno-missing-field-initializers",
        "-pthread",
    ]
    subprocess.run([compiler, *standard, *flags, *includes, path, "-o", library], check=True)
    spec = importlib.util.spec_from_file_location(path.stem, library)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
