"""`unjank cpu pin`: bind threads to CPUs, and see that it works."""

from typing import Annotated

import typer

from unjank.cli._json_option import check_target
from unjank.cli.cpu._change import change
from unjank.cli.cpu._command import become
from unjank.cli.cpu._options import Command, For, Json, Name, Pids, Tids, Watch
from unjank.cli.cpu._threads import choose


def pin(
    cpus: Annotated[
        str,
        typer.Argument(
            metavar="CPUS", help="Such as 0-3,5, all, big, 'one per cluster', 'same L3', 'node 1'."
        ),
    ],
    command: Command = None,
    tid: Tids = None,
    pid: Pids = None,
    name: Name = None,
    seconds: For = None,
    watch: Watch = 1.0,
    json: Json = None,
) -> None:
    """Bind threads, a process, or a program to be started to CPUs.

    The masks are read back, and the threads are watched for a while: where they ran, and how much of a CPU
    they got. Without --for they stay bound.
    """
    from unjank.cpu import format_cpu_list, set_affinity

    check_target(json)
    chosen = choose(tid, pid, name, command)
    if chosen is None:
        set_affinity(None, cpus)
        become(command or [])
    change(
        "pin",
        lambda: set_affinity(chosen.threads, cpus, follow=chosen.whole),
        format_cpu_list,
        seconds=seconds,
        watch=watch,
        json=json,
    )
