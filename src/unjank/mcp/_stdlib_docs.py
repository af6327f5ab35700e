"""The documentation of Perfetto's standard library, which comes with the engine."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from unjank import EngineError
from unjank.trace.engine.modules import find_module

_FILE = "stdlib_docs.json"
# Groups of a module, and what their entries are; the first holds tables and views.
_GROUPS = {
    "data_objects": "",
    "functions": "function",
    "table_functions": "table function",
    "macros": "macro",
}
_PRELUDE = "prelude."  # these are there without an INCLUDE


@dataclass(frozen=True)
class Documented:
    """A table, view, function or macro.

    Attributes:
        name: As SQL names it.
        kind: `table`, `view`, `function`, `table function` or `macro`.
        module: Where it is.
        description: What it holds or does.
        columns: Of a table, or of what a table function returns: name, type and description.
        arguments: Of a function or macro, likewise.
        returns: Type of a function's value.
    """

    name: str
    kind: str
    module: str
    description: str
    columns: tuple[Mapping[str, str], ...] = ()
    arguments: tuple[Mapping[str, str], ...] = ()
    returns: str | None = None

    @property
    def include(self) -> str | None:
        """The statement that makes it known; None if it always is."""
        return None if self.module.startswith(_PRELUDE) else f"INCLUDE PERFETTO MODULE {self.module};"


@lru_cache(maxsize=1)
def read_docs() -> tuple[Documented, ...]:
    """Everything that the standard library documents, by module.

    Raises:
        EngineError: The engine's package has no documentation, or none that can be read.
    """
    path = find_module(32).path.with_name(_FILE)
    try:
        packages = json.loads(path.read_text("utf-8"))
        return tuple(
            entry for package in packages for module in package["modules"] for entry in _entries(module)
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise EngineError(f"{path}: the standard library's documentation can't be read: {error}") from error


def _entries(module: Mapping[str, Any]) -> Iterator[Documented]:
    for group, kind in _GROUPS.items():
        for entry in module.get(group, ()):
            yield Documented(
                name=entry["name"],
                kind=kind or entry["type"].lower(),
                module=module["module_name"],
                description=_one_line(entry["desc"]),
                columns=_described(entry.get("cols", ())),
                arguments=_described(entry.get("args", ())),
                returns=entry.get("return_type"),
            )


def _described(entries: Any) -> tuple[Mapping[str, str], ...]:  # noqa: ANN401  a list of JSON objects
    return tuple(
        {"name": entry["name"], "type": entry["type"], "description": _one_line(entry.get("desc"))}
        for entry in entries
    )


def _one_line(text: str | None) -> str:
    return " ".join((text or "").split())
