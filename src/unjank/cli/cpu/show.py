"""`unjank cpu show`: what CPUs there are, how they relate, what they do, and which this process may use."""

from typing import TYPE_CHECKING

from unjank.cli._json_option import check_target
from unjank.cli.cpu._options import Json, console, write_document

if TYPE_CHECKING:
    from rich.table import Table

    from unjank.cpu import Cpu, CpuPower, Topology
    from unjank.cpu.overview import Overview


def show(json: Json = None) -> None:
    """Show CPUs, caches and clusters, frequencies and idle states, and the limits of this process."""
    from unjank.cpu.overview import document, read_overview

    check_target(json)
    overview = read_overview()
    if json is not None:
        write_document({"schema": "unjank.cpu-show/1", **document(overview)}, json)
    if json != "-":
        _print(overview)


def _print(overview: "Overview") -> None:
    screen = console()
    for name, value in _facts(overview):
        screen.print(f"{name + ':':<18} {value}", soft_wrap=True, markup=False)
    screen.print()
    screen.print(_table(overview))


def _facts(overview: "Overview") -> list[tuple[str, str]]:
    from unjank.cpu import format_cpu_list

    topology, limits = overview.topology, overview.limits
    facts = [("this process", f"may use CPU {format_cpu_list(topology.allowed)}")]
    offline = {cpu.number for cpu in topology.cpus} - topology.online
    facts.append(
        (
            "online",
            format_cpu_list(topology.online) + (f", offline {format_cpu_list(offline)}" if offline else ""),
        )
    )
    if topology.described:
        facts += _groups(topology)
    else:
        facts.append(("topology", "not known: there is no /sys here"))
    facts.append(("control group", limits.group))
    facts.append(("its CPUs", "no limit" if limits.cpus is None else format_cpu_list(limits.cpus)))
    quota = limits.quota
    facts.append(
        ("its quota", "none" if quota is None else f"{quota.cpus:g} CPUs' worth, set by {quota.group}")
    )
    return facts


def _groups(topology: "Topology") -> list[tuple[str, str]]:
    from unjank.cpu import format_cpu_list

    facts = []
    for level, name in (
        ("package", "packages"),
        ("node", "NUMA nodes"),
        ("cluster", "clusters"),
        ("core", "cores"),
    ):
        groups = topology.groups(level)  # type: ignore[arg-type]  # each of these is a Level
        facts.append((name, f"{len(groups)}: " + " | ".join(map(format_cpu_list, groups))))
    kinds = topology.classes
    if len(kinds) > 1:
        facts.append(("kinds", ", ".join(f"{name} {format_cpu_list(cpus)}" for name, cpus in kinds.items())))
    isolated = {cpu.number for cpu in topology.cpus if cpu.isolated}
    if isolated:
        facts.append(("isolated", f"{format_cpu_list(isolated)}: only threads that are bound there"))
    return facts


def _table(overview: "Overview") -> "Table":
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for column in (
        "cpu",
        "use",
        "pkg",
        "core",
        "node",
        "L2 with",
        "L3 with",
        "capacity",
        "MHz",
        "limits",
        "governor",
    ):
        table.add_column(column)
    table.add_column("idle states", overflow="fold")
    for cpu in overview.topology.cpus:
        allowed = cpu.number in overview.topology.allowed
        table.add_row(*_row(cpu, overview.power[cpu.number], allowed=allowed))
    return table


def _row(cpu: "Cpu", power: "CpuPower", *, allowed: bool) -> list[str]:
    from unjank.cpu import format_cpu_list

    use = "offline" if not cpu.online else "yes" if allowed else "no"
    limits = [_mhz(power.low_khz), _mhz(power.high_khz)]
    idle = [state.name + (" (off)" if state.disabled else "") for state in power.idle]
    return [
        str(cpu.number),
        use + (", isolated" if cpu.isolated else ""),
        _text(cpu.package),
        _text(cpu.core),
        _text(cpu.node),
        format_cpu_list(cpu.sharing(2)) or "-",
        format_cpu_list(cpu.sharing(3)) or "-",
        _text(cpu.capacity),
        _mhz(power.khz),
        "-" if limits == ["-", "-"] else " to ".join(limits),
        power.governor or "-",
        ", ".join(idle) or "-",
    ]


def _text(value: int | None) -> str:
    return "-" if value is None else str(value)


def _mhz(khz: int | None) -> str:
    return "-" if khz is None else f"{khz / 1000:.0f}"
