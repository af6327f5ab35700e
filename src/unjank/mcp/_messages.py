"""What the server and its engine's process say to each other."""

from dataclasses import dataclass, field

from unjank.findings import Json
from unjank.trace import EngineName

Cell = int | float | str | None


@dataclass(frozen=True)
class Opening:
    """Which trace to read, and with what."""

    trace: str
    engine: EngineName | None = None
    shell_path: str | None = None


@dataclass(frozen=True)
class RunSql:
    """Run SQL; of the rows the first `most_rows` are wanted."""

    sql: str
    most_rows: int


@dataclass(frozen=True)
class FindAll:
    """Apply all rules."""


Request = RunSql | FindAll


@dataclass(frozen=True)
class Opened:
    """The trace was read."""

    notes: list[str]


@dataclass(frozen=True)
class Rows:
    """Rows of the last statement.

    Attributes:
        columns: Names, which may repeat.
        rows: As many as were wanted.
        total: How many there are; None if they were not counted to the end.
    """

    columns: list[str]
    rows: list[list[Cell]]
    total: int | None


@dataclass(frozen=True)
class Found:
    """Findings as `unjank report --json` has them."""

    findings: list[dict[str, Json]]
    notes: list[str]


@dataclass(frozen=True)
class Failed:
    """It did not work; `fatal` if the engine is gone."""

    message: str
    fatal: bool = field(default=False)


Reply = Rows | Found | Failed
