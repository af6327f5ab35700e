"""`unjank cpu nice`: set how urgent threads are, and see that it works."""

import os
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from unjank import UnjankError
from unjank.cli._json_option import check_target
from unjank.cli._numbers import finite
from unjank.cli.cpu._change import change
from unjank.cli.cpu._command import become
from unjank.cli.cpu._options import For, Json, Name, Pids, Tids, Watch, say
from unjank.cli.cpu._threads import Chosen, choose

if TYPE_CHECKING:
    from collections.abc import Iterable

    from unjank.cpu import Applied, Attributes
    from unjank.cpu.change import Target


class Policy(StrEnum):
    """Scheduling policies, those of `unjank.cpu.priority`."""

    OTHER = "other"
    BATCH = "batch"
    IDLE = "idle"
    FIFO = "fifo"
    RR = "rr"
    DEADLINE = "deadline"


Seconds = Annotated[
    float, typer.Option(min=0.0, callback=finite, metavar="SECONDS", help="For the policy deadline.")
]


def nice(
    value: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[VALUE] [-- COMMAND…]",
            help="-20 to 19, java:1 to java:10, or android:NAME; not with --policy fifo, rr, deadline.",
        ),
    ] = None,
    tid: Tids = None,
    pid: Pids = None,
    name: Name = None,
    policy: Annotated[
        Policy | None, typer.Option(help="Scheduling policy.", show_default="the kept one")
    ] = None,
    priority: Annotated[int | None, typer.Option(min=1, max=99, help="For the policies fifo and rr.")] = None,
    runtime: Seconds = 0.0,
    deadline: Seconds = 0.0,
    period: Seconds = 0.0,
    seconds: For = None,
    watch: Watch = 1.0,
    json: Json = None,
) -> None:
    """Set how urgent threads, a process, or a program to be started are.

    It is read back, and the threads are watched for a while: where they ran, and how much of a CPU they got.
    Without --for it stays so.
    """
    from unjank.cpu.priority import show_priority

    check_target(json)
    level, command = _split(value or [], has_policy=policy is not None)
    if level is None and policy is None:
        raise UnjankError("nothing to set; give a nice value such as 5, or --policy")
    chosen = choose(tid, pid, name, command)
    wanted = _Wanted(level, policy, priority, runtime, deadline, period)
    if chosen is None:
        wanted.apply(None)
        if level is not None:
            _tell_autogroups({os.getpid()})
        become(command)
    change(
        "nice",
        lambda: wanted.apply_and_tell(chosen),
        show_priority,
        seconds=seconds,
        watch=watch,
        json=json,
    )


@dataclass(frozen=True)
class _Wanted:
    """What is to be set, as it was written."""

    level: str | None
    policy: Policy | None
    priority: int | None
    runtime: float
    deadline: float
    period: float

    def apply(self, target: "Target", follow: "Iterable[int]" = ()) -> "Applied[Attributes]":
        from unjank.cpu import nice_of
        from unjank.cpu import priority as set_priority

        return set_priority(
            target,
            nice=None if self.level is None else nice_of(self.level),
            policy=self.policy.value if self.policy else None,
            priority=self.priority,
            runtime=self.runtime,
            deadline=self.deadline,
            period=self.period,
            follow=follow,
        )

    def apply_and_tell(self, chosen: Chosen) -> "Applied[Attributes]":
        applied = self.apply(chosen.threads, chosen.whole)
        if self.level is not None:
            _tell_autogroups({thread.pid for thread in chosen.threads})
        return applied


def _tell_autogroups(pids: set[int]) -> None:
    from unjank.cpu import autogrouped

    for pid in autogrouped(sorted(pids)):
        say(
            f"note: process {pid} is in an autogroup: its nice values count only among threads of its own "
            f"session; for all: echo NICE > /proc/{pid}/autogroup, or sysctl kernel.sched_autogroup_enabled=0"
        )


def _split(words: list[str], *, has_policy: bool) -> tuple[str | None, list[str]]:
    """The value, if the first word is one, and the command."""
    level = words[0] if words and (_is_value(words[0]) or not has_policy) else None
    command = words if level is None else words[1:]
    for word in ([] if level is None else [level]) + command[:1]:
        if word.startswith("-") and not _is_value(word):
            raise UnjankError(f"there is no option {word}; see 'unjank cpu nice --help'")
    return level, command


def _is_value(word: str) -> bool:
    return word.removeprefix("-").isdecimal() or word.startswith(("java:", "android:"))
