"""From a trace's file to a report, in one call."""

from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from unjank.findings import FindingSet, find_all
from unjank.report._document import document, write_document
from unjank.report._terminal import DEFAULT_TOP, render
from unjank.trace import EngineName, TraceProcessor


@dataclass(frozen=True)
class LoadedFindings:
    """The findings of a trace and the engine that read it."""

    found: FindingSet
    engine: str


def load_findings(
    trace: Path, *, engine: EngineName | None = None, shell_path: Path | None = None
) -> LoadedFindings:
    """Reads a trace and applies every rule.

    Args:
        trace: The trace's file.
        engine: What reads it, as for `unjank.TraceProcessor`.
        shell_path: The trace_processor_shell, for engine `shell`.

    Raises:
        TraceError: The trace cannot be read.
        EngineError: The engine cannot be started.
    """
    with TraceProcessor(trace, engine=engine, shell_path=shell_path) as tp:
        return LoadedFindings(find_all(tp), tp.engine)


def report_trace(
    trace: Path,
    *,
    console: Console | None = None,
    json_path: Path | None = None,
    top: int = DEFAULT_TOP,
) -> FindingSet:
    """Reports on a trace: on a console, into a JSON file, or both.

    Args:
        trace: The trace's file.
        console: Where people read it; None for nowhere.
        json_path: Where the JSON object goes; None for nowhere.
        top: Number of findings of each kind to show on the console; the JSON has all.

    Raises:
        TraceError: The trace cannot be read.
        EngineError: The engine cannot be started.
        UnjankError: The JSON file cannot be written.
    """
    loaded = load_findings(trace)
    if console:
        render(console, loaded.found, trace=str(trace), top=top)
    if json_path:
        write_document(document(loaded.found, trace=str(trace), engine=loaded.engine), json_path)
    return loaded.found
