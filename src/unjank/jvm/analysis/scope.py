"""One archive under analysis: its classes read once, its hierarchy read as far as it is asked for."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from unjank.jvm.analysis.decide import Decider, SiteDecision
from unjank.jvm.analysis.hierarchy import Hierarchy
from unjank.jvm.analysis.operations import NEEDLE
from unjank.jvm.analysis.resolve import Resolver
from unjank.jvm.analysis.room import within_pools
from unjank.jvm.analysis.summary import ClassSummary, summarise
from unjank.jvm.classfile import ClassHeader, parse_class, parse_header
from unjank.jvm.errors import ClassFileError


@dataclass(frozen=True, slots=True)
class Unit:
    """A class file of an archive: its number, its path there, and the class name that the path promises."""

    number: int
    path: str
    name: str


Read = Callable[[int], bytes]
"""The bytes of the class file with a number; raises ClassFileError if they cannot be had."""


class Scope:
    """All classes of one archive; `skipped` says of class files why they could not be read."""

    def __init__(self, units: Sequence[Unit], read: Read) -> None:
        self._read = read
        self._units = {unit.number: unit for unit in units}
        self.summaries: dict[int, ClassSummary] = {}
        self.skipped: dict[int, str] = {}
        self._unreadable: list[bytes] = []
        for unit in units:
            self._summarise(unit)
        self._by_name = self._group(units)
        self._header_cache: dict[str, list[ClassHeader] | None] = {}
        self.hierarchy = Hierarchy(self._headers)
        self.resolver = Resolver(self.summaries, self._by_name, self.hierarchy)

    @property
    def units_by_name(self) -> Mapping[str, Sequence[int]]:
        """Class files by class name; several in a multi-release jar, or where an entry is there twice."""
        return self._by_name

    def path(self, unit: int) -> str:
        """Where in the archive a class file is."""
        return self._units[unit].path

    def decisions(self) -> list[SiteDecision]:
        """What becomes of each call, in the order of the archive."""
        decider = Decider(self.resolver, self.hierarchy)
        found = [one for unit, summary in self.summaries.items() for one in decider.decide(unit, summary)]
        return within_pools(self.summaries, found)

    def may_name(self, field: str) -> bool:
        """True if a class file that could not be read has this name in it."""
        return any(field.encode() in data for data in self._unreadable)

    def _summarise(self, unit: Unit) -> None:
        try:
            data = self._read(unit.number)
        except ClassFileError as error:
            self.skipped[unit.number] = str(error)
            return
        if NEEDLE not in data:
            return
        try:
            self.summaries[unit.number] = summarise(parse_class(data))
        except ClassFileError as error:
            self.skipped[unit.number] = str(error)
            self._unreadable.append(data)

    def _group(self, units: Iterable[Unit]) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for unit in units:
            summary = self.summaries.get(unit.number)
            found.setdefault(summary.name if summary else unit.name, []).append(unit.number)
        return found

    def _headers(self, name: str) -> list[ClassHeader] | None:
        if name not in self._header_cache:
            self._header_cache[name] = self._read_headers(name)
        return self._header_cache[name]

    def _read_headers(self, name: str) -> list[ClassHeader] | None:
        try:
            headers = [parse_header(self._read(unit)) for unit in self._by_name.get(name, ())]
        except ClassFileError:
            return None  # as good as not there
        fits = headers and all(header.name == name for header in headers)
        return headers if fits else None
