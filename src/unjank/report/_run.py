"""From a trace's file to a report, in one call."""

from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from unjank.findings import Evidence, FindingSet, find_all
from unjank.report._document import document, write_document
from unjank.report._terminal import DEFAULT_TOP, render
from unjank.trace import EngineName, TraceProcessor
from unjank.trace.export.output import open_output


@dataclass(frozen=True)
class LoadedFindings:
    """The findings of a trace, the engine that read it, and the report as a page if that was asked for."""

    found: FindingSet
    engine: str
    page: str | None = None


def load_findings(
    trace: Path, *, engine: EngineName | None = None, shell_path: Path | None = None, with_page: bool = False
) -> LoadedFindings:
    """Reads a trace and applies every rule.

    Args:
        trace: The trace's file.
        with_page: Whether to make the HTML page too, while the trace is open.
        engine: What reads it, as for `unjank.TraceProcessor`.
        shell_path: The trace_processor_shell, for engine `shell`.

    Raises:
        TraceError: The trace cannot be read.
        EngineError: The engine cannot be started.
    """
    with TraceProcessor(trace, engine=engine, shell_path=shell_path) as tp:
        found = find_all(tp)
        page = _page(tp, found, trace) if with_page else None
        return LoadedFindings(found, tp.engine, page)


def _page(tp: TraceProcessor, found: FindingSet, trace: Path) -> str:
    from unjank.report.html import render_html

    return render_html(Evidence(tp), found, trace=str(trace), engine=tp.engine)


def report_trace(
    trace: Path,
    *,
    console: Console | None = None,
    json_path: Path | None = None,
    html_path: Path | None = None,
    top: int = DEFAULT_TOP,
) -> FindingSet:
    """Reports on a trace: on a console, into a JSON file, into an HTML page, or several of these.

    Args:
        trace: The trace's file.
        console: Where people read it; None for nowhere.
        json_path: Where the JSON object goes; None for nowhere.
        html_path: Where the page goes; None for nowhere.
        top: Number of findings of each kind to show on the console; the JSON has all.

    Raises:
        TraceError: The trace cannot be read.
        EngineError: The engine cannot be started.
        UnjankError: A file cannot be written.
    """
    loaded = load_findings(trace, with_page=html_path is not None)
    if console:
        render(console, loaded.found, trace=str(trace), top=top)
    if json_path:
        write_document(document(loaded.found, trace=str(trace), engine=loaded.engine), json_path)
    if html_path and loaded.page is not None:
        write_page(loaded.page, html_path)
    return loaded.found


def write_page(page: str, target: Path) -> None:
    """Writes the HTML page to a file, which appears whole or not at all.

    Raises:
        UnjankError: The file cannot be written.
    """
    with open_output(target) as output:
        output.stream.write(page.encode("utf-8"))
