"""The trace engine: start from the cache, loading, queries; against a trace_processor_shell if there is one.

Goals: at most 0.1 s to start from the cache, at least 60 MB/s to load (a started engine: starting is a figure
of its own). Both run on one thread, so they are measured in CPU time as well: on a busy machine that is what
another run can be compared with.
"""

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from benchmarks._report import Report, ratio, result
from benchmarks._traces import real_traces, repeat_trace
from unjank import TraceProcessor
from unjank.trace.engine.compiled import ModuleCache, compiled_module
from unjank.trace.engine.modules import find_module

_REPETITIONS = 5
_COPIES = 20  # of a trace of 3.5 MB
_START_GOAL_S = 0.1
_LOAD_GOAL_MB_PER_S = 60.0
_TRACE = "android_jank_cpu_sampling.pftrace"
_QUERY = "SELECT utid, SUM(dur) AS ns, COUNT(*) AS n FROM sched GROUP BY utid ORDER BY ns DESC"
# In a process of its own, since this one has its modules mapped already: from the first line of Python that
# belongs to unjank to an engine that takes requests.
_START = """
import time
begin = time.perf_counter()
from unjank import TraceProcessor
imported, imported_cpu = time.perf_counter(), time.process_time()
with TraceProcessor() as tp:
    print(imported - begin, time.perf_counter() - imported, time.process_time() - imported_cpu)
"""


@dataclass(frozen=True)
class _Spent:
    """Seconds on the clock and of this process's CPU time."""

    wall_s: float
    cpu_s: float

    @classmethod
    def now(cls) -> Self:
        return cls(time.perf_counter(), time.process_time())

    def __sub__(self, other: Self) -> Self:
        return type(self)(self.wall_s - other.wall_s, self.cpu_s - other.cpu_s)


def run() -> Report:
    """Measures everything; the first compilation, if it is still to be made, is not counted."""
    compiled_module(32)
    results: list[dict[str, Any]] = []
    compiled, cached = _compile_and_map()
    imports, starts, start_cpu = _starts()
    results += [
        result("engine_compile", "s", compiled),
        result("engine_map_from_cache", "s", cached),
        result("engine_import", "s", imports),
        result("engine_start_from_cache", "s", starts),
        result("engine_start_from_cache_cpu", "s", start_cpu, goal=_START_GOAL_S),
    ]
    ratios = {
        "engine_compile_vs_cache": ratio(compiled, cached),
        "engine_start_vs_goal_100_ms": ratio(start_cpu, [_START_GOAL_S] * len(start_cpu)),
    }
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "large.pftrace"
        megabytes = repeat_trace(real_traces() / _TRACE, trace, _COPIES) / 1e6
        _measure_loads(trace, megabytes, results, ratios)
    return {"results": results, "ratios": ratios}


def _compile_and_map() -> tuple[list[float], list[float]]:
    module = find_module(32)
    compiled, cached = [], []
    for _ in range(2):
        with tempfile.TemporaryDirectory() as folder:
            cache = ModuleCache(Path(folder) / "unjank")
            compiled.append(_seconds(lambda: cache.load(module)))  # noqa: B023  called at once
            cached.append(_seconds(lambda: cache.load(module)))  # noqa: B023  called at once
    return compiled, cached


def _starts() -> list[list[float]]:
    """Seconds to import, to start, and CPU seconds to start, of each repetition."""
    measured = []
    for _ in range(_REPETITIONS):
        done = subprocess.run([sys.executable, "-c", _START], capture_output=True, text=True, check=True)
        measured.append(list(map(float, done.stdout.split())))
    return [list(figures) for figures in zip(*measured, strict=True)]


def _measure_loads(trace: Path, megabytes: float, results: list[Any], ratios: dict[str, Any]) -> None:
    engines = ["wasm", "wasm64"]
    shell = shutil.which("trace_processor_shell")
    if shell:
        engines.append("shell")
    loads: dict[str, list[float]] = {engine: [] for engine in engines}
    queries: dict[str, list[float]] = {engine: [] for engine in engines}
    cpu: list[float] = []
    for _ in range(_REPETITIONS):
        for engine in engines:
            load, query_s = _load_and_query(trace, engine)
            if engine == "wasm":
                cpu.append(load.cpu_s)
            loads[engine].append(load.wall_s)
            queries[engine].append(query_s)
    for engine in engines:
        rates = [megabytes / seconds for seconds in loads[engine]]
        results.append(result(f"load_{engine}", "MB/s", rates, megabytes=megabytes, trace=_TRACE))
        results.append(result(f"query_{engine}", "s", queries[engine], sql=_QUERY))
    rates = [megabytes / seconds for seconds in cpu]
    results.append(result("load_wasm_per_cpu_second", "MB/s", rates, goal=_LOAD_GOAL_MB_PER_S))
    ratios["engine_load_vs_goal_60_mb_s"] = ratio(rates, [_LOAD_GOAL_MB_PER_S] * len(rates))
    ratios["engine_load_wasm64_vs_wasm"] = ratio(loads["wasm64"], loads["wasm"])
    if shell:
        ratios["engine_load_wasm_vs_shell"] = ratio(loads["wasm"], loads["shell"])
        ratios["engine_query_wasm_vs_shell"] = ratio(queries["wasm"], queries["shell"])


def _load_and_query(trace: Path, engine: Any) -> tuple[_Spent, float]:  # noqa: ANN401  one of EngineName
    """What loading took beyond the start of an engine, measured just before; and the query's seconds."""
    begin = _Spent.now()
    with TraceProcessor(engine=engine):
        start = _Spent.now() - begin
    begin = _Spent.now()
    with TraceProcessor(trace, engine=engine) as tp:
        load = _Spent.now() - begin - start
        queried = time.perf_counter()
        tp.rows(_QUERY)
        return load, time.perf_counter() - queried


def _seconds(action: Callable[[], object]) -> float:
    begin = time.perf_counter()
    action()
    return time.perf_counter() - begin
