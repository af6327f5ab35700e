"""What is to be done with every trace, and how much of the machine it may take."""

import hashlib
import json
from dataclasses import asdict, dataclass, field
from typing import Any

from unjank._errors import UnjankError

_MIB = 1 << 20


@dataclass(frozen=True)
class Limits:
    """What one trace may take. A trace that takes more becomes a row in the table of errors.

    Attributes:
        seconds: Time to load and query it.
        memory_bytes: Memory of the engine; None shares the machine's memory among the workers.
        rows: Rows of its result.
        result_bytes: Size of its result, as the engine sends it.
    """

    seconds: float = 300.0
    memory_bytes: int | None = None
    rows: int = 1_000_000
    result_bytes: int = 128 * _MIB

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if value is not None and not value > 0:
                raise UnjankError(f"limit {name} has to be above 0, not {value}")


@dataclass(frozen=True)
class Job:
    """The question put to every trace.

    Attributes:
        sql: PerfettoSQL, of which the last statement's rows count; None asks for the built-in findings.
        engine: As for `unjank.TraceProcessor`; None is the engine in the worker's process.
        shell_path: The trace_processor_shell, for engine `shell`.
        limits: What a trace may take.
        accept_incomplete: Whether a trace that is cut off or damaged counts with what is left of it;
            otherwise it is an error.
    """

    sql: str | None = None
    engine: str | None = None
    shell_path: str | None = None
    limits: Limits = field(default_factory=Limits)
    accept_incomplete: bool = False

    @property
    def fingerprint(self) -> str:
        """Equal for jobs whose rows belong together: the same question."""
        return hashlib.sha256(json.dumps(self.sql).encode()).hexdigest()[:16]

    def to_wire(self) -> dict[str, Any]:
        """As JSON values, for a worker's process."""
        return asdict(self)

    @classmethod
    def from_wire(cls, values: dict[str, Any]) -> "Job":
        """The job that `to_wire` described."""
        return cls(**{**values, "limits": Limits(**values["limits"])})
