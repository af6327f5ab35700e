"""Whose setting is meant: `--tid`, `--pid`, `--name`."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from unjank.cpu import ThreadRef


@dataclass(frozen=True)
class Chosen:
    """The threads that are meant, and the processes that are meant as a whole."""

    threads: "tuple[ThreadRef, ...]"
    whole: tuple[int, ...]


def choose(
    tids: Sequence[int] | None, pids: Sequence[str] | None, name: str | None, command: Sequence[str] | None
) -> Chosen | None:
    """The threads that are meant; None where a command is to be started instead.

    Raises:
        CpuError: Neither or both were given.
    """
    from unjank.cpu import CpuError, select_threads

    if command:
        if tids or pids or name:
            raise CpuError("give either threads (--tid, --pid) or a command to run, not both")
        return None
    if name and not pids:
        raise CpuError("--name chooses among the threads of a process; name that with --pid")
    if not tids and not pids:
        raise CpuError("whose? give --tid, --pid, or a command to run after --")
    for tid in tids or ():
        if tid < 1:  # in code that is the caller, here it would be this command
            raise CpuError(f"there is no thread {tid}: ids begin at 1; list a process's: unjank cpu stat PID")
    processes = tuple(process_ids(pids or ()))
    threads = select_threads(tids=tids or (), pids=processes, name=name)
    return Chosen(tuple(threads), () if name else processes)


def process_ids(wanted: Iterable[str]) -> list[int]:
    """Ids from ids and name patterns."""
    from unjank.cpu import find_processes

    found = [[int(word)] if word.isdecimal() else find_processes(word) for word in wanted]
    return list(dict.fromkeys(pid for pids in found for pid in pids))


def one_process(wanted: str) -> int:
    """The id of the one process that is meant.

    Raises:
        CpuError: The pattern fits several.
    """
    from unjank.cpu import CpuError

    found = process_ids([wanted])
    if len(found) > 1:
        listed = ", ".join(map(str, found))
        raise CpuError(f"{wanted!r} names several processes; give the id of one: {listed}")
    return found[0]
