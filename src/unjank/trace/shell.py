"""Finds the trace_processor_shell that the user has. Nothing is ever downloaded."""

import os
import shutil
from pathlib import Path

from unjank.trace.errors import EngineUnavailableError

_NAMES = ("trace_processor_shell", "trace_processor")


def find_shell(given: str | os.PathLike[str] | None = None) -> str:
    """Path of the shell: the given one, else the first on PATH.

    Raises:
        EngineUnavailableError: there is none, or the given one can't be run.
    """
    if given is not None:
        path = Path(given)
        if not path.is_file() or not os.access(path, os.X_OK):
            raise EngineUnavailableError(
                f"{path} is not a program that can be run; give a trace_processor_shell"
            )
        return str(path.resolve())
    for name in _NAMES:
        found = shutil.which(name)
        if found:
            return found
    raise EngineUnavailableError(
        "no trace_processor_shell on PATH; give its path, or use the built-in engine (engine 'wasm')"
    )
