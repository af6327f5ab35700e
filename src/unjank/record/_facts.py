"""What a recording says of itself: the arguments of the trace's `session` instant."""

import os
import shlex
import sys
import sysconfig
from collections.abc import Sequence

Facts = list[tuple[str, str]]


def gil_state() -> str:
    """`on`, `off`, or `on (re-enabled)` on a free-threaded build that runs with a GIL."""
    enabled = getattr(sys, "_is_gil_enabled", lambda: True)()
    if not enabled:
        return "off"
    return "on (re-enabled)" if sysconfig.get_config_var("Py_GIL_DISABLED") else "on"


def session_facts(version: str, argv: Sequence[str], sched: str, sched_reason: str) -> Facts:
    """The facts of the process that calls, in the order they are shown."""
    kernel = os.uname()
    return [
        ("version", version),
        ("python", sys.version.split()[0]),
        ("gil", gil_state()),
        ("argv", shlex.join(argv)),
        ("sched", sched),
        ("sched_reason", sched_reason),
        ("kernel", f"{kernel.sysname} {kernel.release} {kernel.machine}"),
        ("cpus", str(os.cpu_count() or 0)),
    ]
