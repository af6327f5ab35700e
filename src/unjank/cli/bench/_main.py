"""Collects the commands of `unjank bench`."""

import typer

from unjank.cli.bench.heap import heap
from unjank.cli.bench.queue import queue

bench = typer.Typer(
    name="bench",
    help="Measure queues, wake-ups and heaps on this machine, as ratios within one run.",
    no_args_is_help=True,
)
bench.command()(queue)
bench.command()(heap)
