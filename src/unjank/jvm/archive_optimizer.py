"""One archive on its way: analysed, written with its changes, verified; nested archives likewise."""

import io
import os
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import BinaryIO

from unjank.jvm.analysis.plan import make_plan
from unjank.jvm.analysis.records import site_records, skipped_records, updater_records
from unjank.jvm.archive import Entry, ZipReader, ZipWriter
from unjank.jvm.archive.classes import archive_scope, open_nested
from unjank.jvm.archive.layout import class_name, is_nested, is_signature, is_targeted_rule
from unjank.jvm.archive.limits import MAX_CLASS, Budget, check_expansion
from unjank.jvm.archive.manifest import MANIFEST, without_digests
from unjank.jvm.archive.module_info import MODULE_INFO, required_modules
from unjank.jvm.archive.zip_reader import BytesSource
from unjank.jvm.classfile import parse_class
from unjank.jvm.errors import ArchiveError, ClassFileError
from unjank.jvm.keep_rules import keep_rules
from unjank.jvm.model import OptimizeOptions, SiteRecord, Skipped, Target, UpdaterRecord
from unjank.jvm.rewrite.apply import changed_bytes, companion_bytes
from unjank.jvm.rewrite.cell import Cell
from unjank.jvm.rewrite.changes import UnitChange, make_changes
from unjank.jvm.verify import verify_classes, verify_entries

_AAR_RULES = "proguard.txt"
_JAR_RULES = "META-INF/proguard/unjank-atomics.pro"


@dataclass(slots=True)
class Totals:
    """What one call of `optimize_archive` gathers over an archive and those nested in it."""

    options: OptimizeOptions
    target: Target
    android: bool
    budget: Budget
    updaters: list[UpdaterRecord] = field(default_factory=list)
    sites: list[SiteRecord] = field(default_factory=list)
    classes_changed: list[str] = field(default_factory=list)
    classes_added: list[str] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    cells: list[Cell] = field(default_factory=list)

    def apart(self) -> "Totals":
        """Empty totals for a nested archive, which may still turn out not to be changed."""
        return Totals(self.options, self.target, self.android, self.budget)

    def include(self, other: "Totals") -> None:
        """Adds those of a nested archive."""
        self.updaters += other.updaters
        self.sites += other.sites
        self.classes_changed += other.classes_changed
        self.classes_added += other.classes_added
        self.skipped += other.skipped
        self.cells += other.cells


class ArchiveOptimizer:
    """One archive. `prefix` is its path within the outermost one, ending in `!/`; empty for that itself."""

    def __init__(self, reader: ZipReader, prefix: str, totals: Totals, depth: int = 0) -> None:
        """Analyses the archive and those nested in it.

        Raises:
            ArchiveError: Something is to be changed and must not be: it is signed, or a module lacks what is
                needed.
        """
        self._reader = reader
        self._prefix = prefix
        self._totals = totals
        self._depth = depth
        self._signed = any(is_signature(entry.name) for entry in reader.entries)
        self._scope = archive_scope(reader, totals.budget)
        decisions = self._scope.decisions()
        plans = make_plan(self._scope, decisions).values()
        totals.sites += site_records(self._scope, decisions, prefix)
        totals.updaters += updater_records(self._scope, plans, prefix)
        totals.skipped += skipped_records(self._scope, prefix)
        self._changes = make_changes(self._scope, plans, totals.target, checked=totals.options.checked)
        self._cells = [cell for change in self._changes.units.values() for _, cell in change.removed]
        self._cells += [cell for other in self._changes.companions.values() for cell in other.cells.values()]
        totals.cells += self._cells
        # Many nested archives may change, and only one of them is to be in memory.
        self._kept = tempfile.TemporaryFile()  # noqa: SIM115  it goes with this object
        self._nested = self._optimize_nested()
        if self._cells:
            self._check_modules()
        if self.changes_anything:
            self._check_signature()

    @property
    def changes_anything(self) -> bool:
        """True if the output differs from the archive."""
        return bool(self._changes.units or self._nested)

    def write(self, out: BinaryIO) -> None:
        """Writes the archive with its changes."""
        writer = ZipWriter(self._reader, out)
        signed = self.changes_anything and self._signed
        rules = self._rules
        for number, entry in enumerate(self._reader.distinct):
            if signed and is_signature(entry.name):
                continue
            content = self._new_content(number, entry, rules, signed=signed)
            if content is None:
                writer.copy(entry)
            else:
                writer.replace(entry, content)
            self._add_companion(writer, number, entry)
        self._add_rules(writer)
        writer.finish()

    def verify(self, written: ZipReader) -> None:
        """Reads what was written again.

        Raises:
            VerificationError: It is not what it should be.
        """
        rules = self._rules
        verify_entries(self._reader, written, lambda number, entry: self._is_left_alone(number, entry, rules))
        verify_classes(self._reader, written, self._scope, self._changes)

    def _is_left_alone(self, number: int, entry: Entry, rules: Mapping[str, list[Cell]]) -> bool:
        """True if an entry must be bit for bit what it was; False if it may be changed, or left out."""
        return not (
            number in self._changes.units
            or entry.offset in self._nested
            or entry.name in rules
            or (self._signed and (is_signature(entry.name) or entry.name == MANIFEST))
        )

    def _new_content(
        self, number: int, entry: Entry, rules: Mapping[str, list[Cell]], *, signed: bool
    ) -> bytes | None:
        """Other content of an entry; None if it stays."""
        change = self._changes.units.get(number)
        if change is not None:
            self._totals.classes_changed.append(self._prefix + entry.name)
            return self._changed(entry, change)
        if entry.offset in self._nested:
            at, size = self._nested[entry.offset]
            self._kept.seek(at)
            return self._kept.read(size)
        if signed and entry.name == MANIFEST:
            return without_digests(self._read_text(entry))
        if entry.name in rules:
            return _with_rules(self._read_text(entry), rules[entry.name])
        return None

    def _read_text(self, entry: Entry) -> bytes:
        check_expansion(entry.name, entry.packed, entry.size, MAX_CLASS)
        return self._reader.read(entry)

    def _changed(self, entry: Entry, change: UnitChange) -> bytes:
        try:
            return changed_bytes(self._reader.read(entry), change)
        except ClassFileError as error:
            raise ArchiveError(f"{self._prefix}{entry.name} cannot be changed: {error}") from error

    def _add_companion(self, writer: ZipWriter, number: int, entry: Entry) -> None:
        companion = self._changes.companions.get(number)
        if companion is not None:
            writer.add(companion.path, companion_bytes(companion), entry.timestamp)
            self._totals.classes_added.append(self._prefix + companion.path)

    def _add_rules(self, writer: ZipWriter) -> None:
        there = {entry.name for entry in self._reader.entries}
        for name, cells in self._rules.items():
            if name not in there:
                writer.add(name, keep_rules(cells).encode(), self._reader.distinct[0].timestamp)

    @property
    def _rules(self) -> dict[str, list[Cell]]:
        """Files for keep rules, and of what they have to speak.

        An AAR has those of all its jars in one file, another jar its own. R8 reads neither where there are
        rules for certain versions of it; then each of these folders gets them as well.
        """
        found = dict.fromkeys(map(_rules_beside, filter(is_targeted_rule, self._names())), self._cells)
        if not self._totals.android:
            found[_JAR_RULES] = self._cells
        elif not self._depth:
            found[_AAR_RULES] = self._totals.cells
        return {name: cells for name, cells in found.items() if cells}

    def _names(self) -> Iterable[str]:
        return (entry.name for entry in self._reader.distinct)

    def _optimize_nested(self) -> dict[int, tuple[int, int]]:
        """Of the nested archives that change, by their place in the file, where their new content is kept."""
        found = {}
        for entry in self._reader.distinct:
            if not is_nested(entry.name):
                continue
            path = self._prefix + entry.name
            try:
                with open_nested(self._reader, entry, path, self._depth, self._totals.budget) as nested:
                    content = self._optimize_one(nested, path)
            except ArchiveError as error:
                self._totals.skipped.append(Skipped(path, "archive", str(error)))
                continue
            if content is not None:
                found[entry.offset] = (self._kept.seek(0, os.SEEK_END), len(content))
                self._kept.write(content)
        return found

    def _optimize_one(self, nested: ZipReader, path: str) -> bytes | None:
        totals = self._totals.apart()
        optimizer = ArchiveOptimizer(nested, f"{path}!/", totals, self._depth + 1)
        content = None
        if optimizer.changes_anything:
            out = io.BytesIO()
            optimizer.write(out)
            content = out.getvalue()
            optimizer.verify(ZipReader(BytesSource(content), path))
        self._totals.include(totals)
        return content

    def _check_signature(self) -> None:
        if self._signed and self._totals.options.signatures == "refuse":
            raise ArchiveError(
                f"{self._reader.name} is signed, and changing classes would break that; "
                "take the signature out with --signatures remove, and sign the output again"
            )

    def _check_modules(self) -> None:
        """A module reaches sun.misc.Unsafe only if it requires jdk.unsupported; Android has no modules."""
        if self._totals.target != "unsafe" or self._totals.android:
            return
        for entry in self._module_descriptors():
            check_expansion(entry.name, entry.packed, entry.size, MAX_CLASS)
            try:
                required = required_modules(parse_class(self._reader.read(entry)))
            except ClassFileError as error:
                raise ArchiveError(f"{self._prefix}{entry.name}: {error}") from error
            if "jdk.unsupported" not in required:
                raise ArchiveError(
                    f"{self._reader.name} is a module that does not require jdk.unsupported, and cannot use "
                    "sun.misc.Unsafe; choose --target varhandle"
                )

    def _module_descriptors(self) -> Iterable[Entry]:
        return (entry for entry in self._reader.distinct if class_name(entry.name) == MODULE_INFO)


def _rules_beside(path: str) -> str:
    return f"{path.rpartition('/')[0]}/{_JAR_RULES.rpartition('/')[2]}"


def _with_rules(old: bytes, cells: Iterable[Cell]) -> bytes:
    return old.rstrip(b"\n") + b"\n" * bool(old.strip()) + keep_rules(cells).encode()
