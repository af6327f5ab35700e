"""The JSON form of a report, schema `unjank.report/1`."""

from pathlib import Path
from typing import TextIO

from unjank._json_file import write_json
from unjank.findings import FindingSet

SCHEMA = "unjank.report/1"


def document(found: FindingSet, *, trace: str, engine: str) -> dict[str, object]:
    """Makes the JSON object of a report.

    Args:
        found: What was found.
        trace: The trace's path, as the user gave it.
        engine: The engine that read it, such as `wasm`.
    """
    return {
        "schema": SCHEMA,
        "trace": trace,
        "engine": engine,
        "findings": [finding.to_dict() for finding in found.findings],
        "notes": list(found.notes),
    }


def write_document(content: dict[str, object], target: Path | TextIO) -> None:
    """Writes a report's JSON object to a file or an open stream, as ASCII.

    Raises:
        UnjankError: The file cannot be written.
    """
    write_json(content, target, indent=2)
