"""The same question to many traces: SQL or the findings, over thousands of files, here or on a cluster.

Layout: `_inputs` finds the traces, `_run` is the one call. `_supervisor` puts traces to an
`_engine_process`, whose inside is `_engine_host`; `_wire` is between them. `_units` are cut for `_local` or
`_dask`, each done by `_work` into a `_part`; `_dataset` is the folder of parts, `_storage` where it lies.
`_result` reads it, `_aggregate` asks DuckDB about it.
"""

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
