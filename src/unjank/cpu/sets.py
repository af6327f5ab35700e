"""Sets of CPUs by what they are: `2-3`, `big`, `one per cluster`, `same L3`, `node 1`."""

import re
from collections.abc import Iterable

from unjank._errors import CpuError
from unjank.cpu.cpulist import format_cpu_list, parse_cpu_list
from unjank.cpu.errors import AbsentError
from unjank.cpu.topology import LEVELS, Level, Topology

CpuSet = str | Iterable[int]
"""CPU numbers, or words that `resolve_cpus` understands."""

_CLASSES = ("little", "big", "prime")
_NUMBERED = re.compile(r"(core|cluster|l2|l3|die|package|node)\s+(\d+)")
_PER = re.compile(r"one per (\w+)")
_SAME = re.compile(r"same (\w+)")
_FORMS = "'0-3,5', 'all', 'big', 'one per cluster', 'same L3', 'node 1'"


def resolve_cpus(wanted: CpuSet, topology: Topology, near: int | None = None) -> frozenset[int]:
    """The numbers that are meant.

    Words choose among the CPUs that this process may use. A list of numbers is taken as it is: whether the
    kernel allows it, the kernel says.

    Args:
        wanted: Numbers, a list such as `0-3,5`, or one of: `all`; `little`, `big`, `prime`; `one per core`,
            `cluster`, `l2`, `l3`, `die`, `package` or `node`; `same` any of these, as the CPU `near`;
            any of these with a number, counted from 0, such as `cluster 1`. Node takes the kernel's number.
        topology: The machine.
        near: The CPU that `same …` starts from: where the thread last ran.

    Raises:
        AbsentError: This machine has no such CPUs, or this process may use none of them.
        CpuError: The words are not understood, or the set is empty.
    """
    if not isinstance(wanted, str):
        if not isinstance(wanted, Iterable):
            raise CpuError(
                f"{wanted!r} is not a set of CPUs; write one of {_FORMS}, or numbers such as {{2, 3}}"
            )
        chosen = frozenset(wanted)
        if any(isinstance(cpu, bool) or not isinstance(cpu, int) or cpu < 0 for cpu in chosen):
            raise CpuError("CPUs are whole numbers from 0 on; take them from os.sched_getaffinity(0)")
        return _not_empty(chosen, "the set of CPUs")
    words = " ".join(wanted.lower().split())
    if words[:1].isdecimal():
        return _not_empty(parse_cpu_list(words), "the list of CPUs")
    named = _named(words, topology, near)
    if named is None:
        raise CpuError(f"{wanted!r} is not a set of CPUs; write one of {_FORMS}")
    usable = named & topology.allowed
    if not usable:
        allowed = format_cpu_list(topology.allowed)
        raise AbsentError(
            f"of {wanted!r}, CPU {format_cpu_list(named)}, this process may use none: it may use {allowed}"
        )
    return usable


def _named(words: str, topology: Topology, near: int | None) -> frozenset[int] | None:
    if words == "all":
        return topology.allowed
    if words in _CLASSES:
        return _class(words, topology)
    if match := _PER.fullmatch(words):
        return _one_per(_level(match[1]), topology)
    if match := _SAME.fullmatch(words):
        return _same(_level(match[1]), topology, near)
    if match := _NUMBERED.fullmatch(words):
        return _numbered(_level(match[1]), int(match[2]), topology)
    return None


def _class(name: str, topology: Topology) -> frozenset[int]:
    if name not in topology.classes:
        there = ", ".join(topology.classes)
        what = f"only {there}" if len(topology.classes) > 1 else "all of one kind"
        raise AbsentError(f"this machine has no {name!r} CPUs: they are {what}; use 'all' or a list")
    return topology.classes[name]


def _level(name: str) -> Level:
    for level in LEVELS:
        if name == level:
            return level
    raise CpuError(f"CPUs share no {name!r}; name one of {', '.join(LEVELS)}")


def _one_per(level: Level, topology: Topology) -> frozenset[int]:
    usable = [group & topology.allowed for group in topology.groups(level)]
    return frozenset(min(group) for group in usable if group)


def _same(level: Level, topology: Topology, near: int | None) -> frozenset[int]:
    return topology.sharing(level, min(topology.allowed) if near is None else near)


def _numbered(level: Level, number: int, topology: Topology) -> frozenset[int]:
    groups = dict(enumerate(topology.groups(level)))
    if level == "node":
        groups = {topology.by_number[min(group)].node or 0: group for group in groups.values()}
    if number not in groups:
        raise AbsentError(f"there is no {level} {number}: this machine has {level} {format_cpu_list(groups)}")
    return groups[number]


def _not_empty(cpus: frozenset[int], what: str) -> frozenset[int]:
    if not cpus:
        raise CpuError(f"{what} is empty; a thread needs at least one CPU to run on")
    return cpus
