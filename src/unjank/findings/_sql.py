"""The SQL behind the findings: a module for each kind in `sql/`, and modules that several of them share.

The files are PerfettoSQL modules. What they include of each other is put in their place, so that a text runs
as it stands: in `unjank query`, in another trace processor, in the Perfetto UI.
"""

import re
from functools import cache
from importlib import resources

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
    try:
        return read_module(kind.replace("-", "_"))
    except FileNotFoundError:
        raise ValueError(f"there is no finding {kind!r}; unjank.findings.RULES lists them") from None


def read_module(name: str) -> str:
    """The text of a module, what it includes of ours first, each once.

    Raises:
        FileNotFoundError: There is no such module.
    """
    parts: dict[str, str] = {}
    _collect(name, parts)
    return "\n".join(parts.values())


def _collect(name: str, parts: dict[str, str]) -> None:
    text = (resources.files("unjank.findings") / "sql" / f"{name}.sql").read_text("utf-8")
    for included in _OWN_MODULE.findall(text):
        if included not in parts:
            _collect(included, parts)
    parts[name] = _OWN_MODULE.sub("", text)
