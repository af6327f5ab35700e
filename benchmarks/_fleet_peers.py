"""What `unjank fleet` is measured against, each run as a program of its own: `-m benchmarks._fleet_peers`.

Imports are where they are used: perfetto looks for pandas once, and only one of these wants it found.
"""

import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any


def ask_alone(traces: list[str], sql: str) -> None:
    """Loads and queries each trace in one engine, one after the other; prints the seconds of just that."""
    from unjank import TraceProcessor

    with TraceProcessor(traces[0]) as tp:
        tp.rows(sql)
        begin = time.perf_counter()
        for trace in traces:
            tp.load(trace)
            tp.rows(sql)
        print(time.perf_counter() - begin, file=sys.stderr)


def ask_in_plain_pool(traces: list[str], sql: str) -> None:
    """Two processes, each with a new engine for each trace: what anybody would write first."""
    with ProcessPoolExecutor(2) as pool:
        for rows in pool.map(_ask_one, traces, [sql] * len(traces)):
            assert rows is not None


def ask_with_perfetto(traces: list[str], sql: str) -> None:
    """Perfetto's own BatchTraceProcessor, with the trace_processor_shell on PATH."""
    sys.path.append(f"{sys.prefix}/frames")  # pandas, which it needs, is where cmake/make_venv puts it
    from perfetto.batch_trace_processor.api import BatchTraceProcessor, BatchTraceProcessorConfig
    from perfetto.trace_processor.api import TraceProcessorConfig

    from unjank.trace.shell import find_shell

    config = BatchTraceProcessorConfig(tp_config=TraceProcessorConfig(bin_path=find_shell()))
    with BatchTraceProcessor(traces, config) as batch:
        batch.query_and_flatten(sql)


def _ask_one(trace: str, sql: str) -> list[dict[str, Any]]:
    from unjank import TraceProcessor

    with TraceProcessor(trace) as tp:
        return tp.rows(sql)


if __name__ == "__main__":
    peer, folder, query = sys.argv[1:]
    globals()[peer](sorted(map(str, Path(folder).iterdir())), Path(query).read_text())
