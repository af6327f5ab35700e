"""The SQL behind the findings: a module for each kind in `sql/`, and modules that several of them share.

The files are PerfettoSQL modules. What they include of each other is put in their place, so that a text runs
as it stands: in `unjank query`, in another trace processor, in the Perfetto UI.
"""

import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from types import MappingProxyType

_OWN_MODULE = re.compile(r"^INCLUDE PERFETTO MODULE unjank\.([a-z_]+);\n+", re.MULTILINE)


@cache
def sql_of(kind: str) -> str:
    """The SQL that gives a kind of finding's numbers; its last statement has a row for each finding or event.

    Args:
        kind: Name of the rule, such as `lock-contention`.

    Returns:
        Statements that run as they stand, on any trace.

    Raises:
        ValueError: There is no such kind.
    """
    return "\n".join(modules_of(kind).values())


@cache
def modules_of(kind: str) -> Mapping[str, str]:
    """The modules of that SQL by name, what one includes of ours before it, each once. As `sql_of`."""
    parts: dict[str, str] = {}
    try:
        _collect(kind.replace("-", "_"), parts)
    except FileNotFoundError:
        raise ValueError(f"there is no finding {kind!r}; unjank.findings.RULES lists them") from None
    return MappingProxyType(parts)


def _collect(name: str, parts: dict[str, str]) -> None:
    text = (resources.files("unjank.findings") / "sql" / f"{name}.sql").read_text("utf-8")
    for included in _OWN_MODULE.findall(text):
        if included not in parts:
            _collect(included, parts)
    parts[name] = _OWN_MODULE.sub("", text)
