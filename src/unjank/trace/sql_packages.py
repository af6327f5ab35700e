"""Folders of PerfettoSQL modules that a caller adds to the standard library."""

from dataclasses import dataclass
from pathlib import Path

from unjank.trace.errors import EngineUnavailableError


@dataclass(frozen=True)
class SqlPackageFiles:
    """A package's name and its modules: dotted name, as INCLUDE PERFETTO MODULE takes it, to SQL text."""

    name: str
    modules: dict[str, str]


def read_sql_package(folder: str | Path, name: str | None = None) -> SqlPackageFiles:
    """Reads every `*.sql` below the folder; `a/b.sql` in package `p` is module `p.a.b`.

    Raises:
        EngineUnavailableError: no such folder, no SQL in it, or a file that can't be read.
    """
    root = Path(folder)
    package = name or root.resolve().name
    try:
        modules = {
            ".".join((package, *file.relative_to(root).with_suffix("").parts)): file.read_text("utf-8")
            for file in sorted(root.rglob("*.sql"))
        }
    except (OSError, UnicodeDecodeError) as error:
        raise EngineUnavailableError(f"SQL package {root}: {error}") from error
    if not modules:
        raise EngineUnavailableError(f"SQL package {root}: there is no *.sql file in it")
    return SqlPackageFiles(package, modules)
