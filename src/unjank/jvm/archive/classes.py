"""From an archive or folder to the scope that is analysed, and to the archives in it."""

from collections.abc import Iterator
from pathlib import Path

from unjank.jvm.analysis.scope import Scope, Unit
from unjank.jvm.archive.layout import class_name, is_class, is_nested
from unjank.jvm.archive.limits import MAX_CLASS, MAX_DEPTH, MAX_NESTED, Budget, check_expansion
from unjank.jvm.archive.zip_format import Entry
from unjank.jvm.archive.zip_reader import BytesSource, ZipReader
from unjank.jvm.errors import ArchiveError, ClassFileError
from unjank.jvm.model import Skipped


def archive_scope(reader: ZipReader, budget: Budget) -> Scope:
    """Reads the classes of one archive, not of nested ones. A unit's number is its place in `distinct`."""
    entries = reader.distinct
    budget.take(reader.name, sum(entry.size for entry in entries if is_class(entry.name)))

    def read(number: int) -> bytes:
        try:
            check_expansion(entries[number].name, entries[number].packed, entries[number].size, MAX_CLASS)
            return reader.read(entries[number])
        except ArchiveError as error:
            raise ClassFileError(str(error)) from error

    units = [
        Unit(number, entry.name, class_name(entry.name))
        for number, entry in enumerate(entries)
        if is_class(entry.name)
    ]
    return Scope(units, read)


def folder_scope(folder: Path) -> Scope:
    """Reads the class files below a folder, as one program."""
    paths = sorted(path for path in folder.rglob("*.class") if path.is_file())
    names = [path.relative_to(folder).as_posix() for path in paths]

    def read(number: int) -> bytes:
        try:
            return paths[number].read_bytes()
        except OSError as error:
            raise ClassFileError(f"it cannot be read: {error.strerror}") from error

    return Scope([Unit(number, name, class_name(name)) for number, name in enumerate(names)], read)


def nested_archives(
    reader: ZipReader, prefix: str, depth: int, budget: Budget, skipped: list[Skipped]
) -> Iterator[ZipReader]:
    """Opens the archives within an archive in turn; `skipped` gets those that cannot be opened."""
    for entry in reader.distinct:
        if not is_nested(entry.name):
            continue
        path = prefix + entry.name
        try:
            nested = open_nested(reader, entry, path, depth, budget)
        except ArchiveError as error:
            skipped.append(Skipped(path, "archive", str(error)))
            continue
        yield nested


def open_nested(reader: ZipReader, entry: Entry, path: str, depth: int, budget: Budget) -> ZipReader:
    """Opens one archive within an archive that is itself `depth` deep.

    Raises:
        ArchiveError: It is too deep, too large, or no archive.
    """
    if depth >= MAX_DEPTH:
        raise ArchiveError(f"archives are nested more than {MAX_DEPTH} deep")
    check_expansion(entry.name, entry.packed, entry.size, MAX_NESTED)
    budget.take(path, entry.size)
    return ZipReader(BytesSource(reader.read(entry)), path)
