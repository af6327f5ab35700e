"""From two traces' files to a comparison."""

from pathlib import Path

from unjank.findings import find_all
from unjank.report.compare._compare import Comparison, Side, compare
from unjank.trace import EngineName, TraceProcessor


def compare_traces(
    before: Path, after: Path, *, engine: EngineName | None = None, shell_path: Path | None = None
) -> tuple[Side, Side, tuple[Comparison, ...]]:
    """Reads two traces, one after the other, and compares their findings.

    Args:
        before: The trace to compare with.
        after: The trace that is compared.
        engine: What reads them, as for `unjank.TraceProcessor`.
        shell_path: The trace_processor_shell, for engine `shell`.

    Raises:
        TraceError: A trace cannot be read.
        EngineError: The engine cannot be started.
    """
    first, second = (_read(trace, engine, shell_path) for trace in (before, after))
    return first, second, compare(first, second)


def _read(trace: Path, engine: EngineName | None, shell_path: Path | None) -> Side:
    with TraceProcessor(trace, engine=engine, shell_path=shell_path) as tp:
        (length,) = tp.query("SELECT trace_end() - trace_start() AS ns")
        return Side(str(trace), tp.engine, length.ns or 0, find_all(tp))
