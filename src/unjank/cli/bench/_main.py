"""Collects the commands of `unjank bench`."""

import typer

from unjank.cli.bench.atomics import atomics
from unjank.cli.bench.compare import compare
from unjank.cli.bench.cores import cores
from unjank.cli.bench.heap import heap
from unjank.cli.bench.pingpong import pingpong
from unjank.cli.bench.priority import priority
from unjank.cli.bench.queue import queue
from unjank.cli.bench.updaters import updaters

bench = typer.Typer(
    name="bench",
    help="Measure switches, caches, atomics, priorities, queues, heaps and Java's updaters, as ratios.",
    no_args_is_help=True,
)
bench.command()(pingpong)
bench.command()(cores)
bench.command()(atomics)
bench.command()(priority)
bench.command()(queue)
bench.command()(heap)
bench.command()(updaters)
bench.command()(compare)
