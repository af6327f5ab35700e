"""What is installed is whole."""

import importlib.resources
from importlib.metadata import distribution, entry_points

import unjank


def test_version_is_told_once() -> None:
    """The distribution's version is the one in the code."""
    assert distribution("unjank").version == unjank.__version__


def test_the_command_is_installed() -> None:
    """The console script leads to the command line's main."""
    (script,) = entry_points(group="console_scripts", name="unjank")
    assert script.value == "unjank.cli:main"


def test_type_information_is_shipped() -> None:
    """py.typed and the extension modules' stubs are in the package."""
    files = {file.name for file in importlib.resources.files("unjank").iterdir()}
    stubs = {f"_{name}.pyi" for name in ("record", "ftrace", "looper", "bench")}
    assert {"py.typed", *stubs} <= files
