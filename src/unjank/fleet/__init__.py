"""The same question to many traces: SQL or the findings, over thousands of files, here or on a cluster.

Layout: `_inputs` finds the traces, `_run` is the one call. `_supervisor` puts traces to an
`_engine_process`, whose inside is `_engine_host`; `_wire` is between them. `_units` are cut for `_local` or
`_dask`, each done by `_work` into a `_part`; `_dataset` is the folder of parts, `_storage` where it lies.
`_result` reads it, `_aggregate` asks DuckDB about it.
Names below are loaded on first use, since each worker's process imports this package and needs none of them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unjank.fleet._dataset import Totals
    from unjank.fleet._inputs import find_traces
    from unjank.fleet._job import Limits
    from unjank.fleet._print import print_table
    from unjank.fleet._progress import Progress, terminal_progress
    from unjank.fleet._result import FleetResult, FleetTable, open_fleet
    from unjank.fleet._run import run_fleet
    from unjank.fleet._trace import Trace

__all__ = [
    "FleetResult",
    "FleetTable",
    "Limits",
    "Progress",
    "Totals",
    "Trace",
    "find_traces",
    "open_fleet",
    "print_table",
    "run_fleet",
    "terminal_progress",
]

_MODULES = {
    "FleetResult": "_result",
    "FleetTable": "_result",
    "Limits": "_job",
    "Progress": "_progress",
    "Totals": "_dataset",
    "Trace": "_trace",
    "find_traces": "_inputs",
    "open_fleet": "_result",
    "print_table": "_print",
    "run_fleet": "_run",
    "terminal_progress": "_progress",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401  the type is that of the name asked for
    if name in _MODULES:
        return getattr(import_module(f"unjank.fleet.{_MODULES[name]}"), name)
    raise AttributeError(f"module 'unjank.fleet' has no attribute {name!r}")
