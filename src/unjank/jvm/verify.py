"""The own output, read again: what was not to change is bit for bit the same, what was added is sound."""

from collections import deque
from collections.abc import Callable

from unjank.jvm.analysis.scope import Scope
from unjank.jvm.archive import Entry, ZipReader
from unjank.jvm.errors import AtomicsError, VerificationError
from unjank.jvm.rewrite.changes import Changes
from unjank.jvm.rewrite.verify import ClassVerifier


def verify_entries(source: ZipReader, written: ZipReader, left_alone: Callable[[int, Entry], bool]) -> None:
    """Compares all entries that were to be copied.

    Raises:
        VerificationError: One is missing or differs.
    """
    twins = _twins(source, written)
    for number, entry in enumerate(source.distinct):
        if left_alone(number, entry) and not (
            number in twins and _same(source, entry, written, twins[number])
        ):
            raise VerificationError(f"{written.name}: {entry.name} is not what it was; nothing was written")


def verify_classes(source: ZipReader, written: ZipReader, scope: Scope, changes: Changes) -> None:
    """Verifies all class files that were changed or added, and that none still reads an updater that is gone.

    Raises:
        VerificationError: A class is not what it should be.
    """
    twins = _twins(source, written)
    verifier = ClassVerifier(scope.hierarchy, changes)
    try:
        paths = {companion.path for companion in changes.companions.values()}
        added = [entry for entry in written.distinct if entry.name in paths]
        changed = {number: twins[number] for number in changes.units}
        for entry in (*added, *changed.values()):
            verifier.add(written.read(entry))
        for entry in added:
            verifier.verify_added(written.read(entry))
        for number, change in changes.units.items():
            verifier.verify_changed(
                source.read(source.distinct[number]), written.read(changed[number]), change
            )
        for number in scope.summaries:
            verifier.verify_reads(number, written.read(twins[number]))
    except VerificationError:
        raise
    except (AtomicsError, KeyError, IndexError) as error:
        raise VerificationError(f"{written.name} did not pass verification: {error}") from error


def _twins(source: ZipReader, written: ZipReader) -> dict[int, Entry]:
    """The written entry for each of the source: of several with one name, the one in the same turn."""
    there: dict[str, deque[Entry]] = {}
    for entry in written.distinct:
        there.setdefault(entry.name, deque()).append(entry)
    return {
        number: there[entry.name].popleft()
        for number, entry in enumerate(source.distinct)
        if there.get(entry.name)
    }


def _same(one: ZipReader, entry: Entry, other: ZipReader, twin: Entry) -> bool:
    if entry.central[:42] != twin.central[:42] or entry.central[46:] != twin.central[46:]:
        return False
    begin, end = one.region(entry)
    other_begin, other_end = other.region(twin)
    if end - begin != other_end - other_begin:
        return False
    pieces = zip(one.chunks(begin, end), other.chunks(other_begin, other_end), strict=True)
    return all(piece == copied for piece, copied in pieces)
