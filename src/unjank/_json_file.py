"""How every `--json` is written: one place for its form and its errors."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TextIO

from unjank._errors import UnjankError


def write_json(content: Mapping[str, Any], target: Path | TextIO, *, indent: int) -> None:
    """Writes one object to a file or an open stream, as ASCII.

    Raises:
        UnjankError: The file cannot be written.
    """
    text = json.dumps(content, indent=indent, allow_nan=False) + "\n"
    if not isinstance(target, Path):
        target.write(text)
        return
    try:
        target.write_text(text, encoding="ascii")
    except OSError as error:
        raise UnjankError(
            f"cannot write {target}: {error.strerror}; name another file with --json"
        ) from error
