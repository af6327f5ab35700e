"""One unit of work: its traces one after the other, then one part committed."""

from collections.abc import Callable

from unjank.fleet._part import Entry, PartWriter
from unjank.fleet._storage import Storage
from unjank.fleet._supervisor import StoppedError, Supervisor
from unjank.fleet._units import Unit, with_following


def work_on(
    unit: Unit, supervisor: Supervisor, storage: Storage, run: int, tell: Callable[[Entry], None]
) -> tuple[Entry, ...]:
    """Does a unit and commits its part.

    Args:
        unit: The traces.
        supervisor: Who asks them.
        storage: Where the part goes.
        run: Which run of the command this is.
        tell: Told about each trace.

    Raises:
        StoppedError: The supervisor was stopped; the traces done until then are committed.
        EngineError: There is no engine on this machine.
        UnjankError: The part cannot be written.
    """
    writer = PartWriter(run)
    try:
        for trace, following in with_following(unit):
            tell(writer.add(supervisor.run(trace, following)))
    except StoppedError:
        if writer.entries:
            writer.commit(storage)
        raise
    writer.commit(storage)
    return writer.entries
