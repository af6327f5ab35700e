"""What became of one trace."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from unjank.fleet._columns import Batch
from unjank.fleet._trace import Trace


@dataclass(frozen=True)
class Failure:
    """Why a trace has no rows.

    Attributes:
        stage: `fetch`, `load`, `query`; or `worker` where the process died, at whatever it was.
        cause: One line.
    """

    stage: str
    cause: str


@dataclass(frozen=True)
class Outcome:
    """A trace's rows, or why there are none.

    Attributes:
        trace: Which.
        batches: Its rows, as Arrow record batches; their types may differ from batch to batch.
        facts: What the trace says of itself, by the names in `_metadata`.
        notes: What to know about it, such as data lost while recording.
        failure: Why it has no rows, or None.
    """

    trace: Trace
    batches: tuple[Batch, ...] = ()
    facts: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    failure: Failure | None = None

    @property
    def rows(self) -> int:
        """Number of rows."""
        return sum(batch.num_rows for batch in self.batches)
