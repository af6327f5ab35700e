"""What a scan or an optimisation tells: one record per updater, per call, per skipped class."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

Target = Literal["unsafe", "varhandle"]


class Decision(StrEnum):
    """What becomes of a call."""

    DIRECT = "direct"
    KEPT = "kept"


class Outcome(StrEnum):
    """What becomes of an updater."""

    REMOVED = "removed"  # its field holds the offset, or a VarHandle, in its place
    COMPANION = "companion"  # it stays; its direct calls go through a class beside its own
    KEPT = "kept"  # no call of it is direct


@dataclass(frozen=True, slots=True)
class SiteRecord:
    """A call of an updater: one line of the proof log.

    Attributes:
        entry: Path in the archive, nested archives divided by `!/`.
        class_name: Class of the calling method, with dots.
        method: Name and descriptor of that method.
        offset: Place of the call in the method's code; below 0 if the code cannot be read that far.
        operation: What is called, `compareAndSet`.
        updater: The updater, `a.b.Owner.FIELD`; None if it is not known.
        decision: Whether the call is, or could be made, direct.
        reason: Code of the reason, see `unjank.jvm.Reason`.
        detail: The reason in words.
    """

    entry: str
    class_name: str
    method: str
    offset: int
    operation: str
    updater: str | None
    decision: Decision
    reason: str
    detail: str


@dataclass(frozen=True, slots=True)
class UpdaterRecord:
    """A field that holds an updater.

    Attributes:
        entry: Path of its class in the archive.
        name: `a.b.Owner.FIELD`.
        kind: `reference`, `integer` or `long`.
        target: Name of the updated field; empty if it is not known.
        refusal: Code of the reason why it cannot be relied on; None if it can.
        sites: Number of calls that are proven to be of it.
        direct: How many of these are, or could be made, direct.
        outcome: What becomes of the updater.
    """

    entry: str
    name: str
    kind: str
    target: str
    refusal: str | None
    sites: int
    direct: int
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that was not looked into: a class, a method, a nested archive; and why."""

    entry: str
    what: str
    reason: str


@dataclass(frozen=True, slots=True)
class DexFile:
    """A dex file of an APK, and who made it: `R8` or `D8`, version and mode; None where it does not say."""

    entry: str
    tool: str | None
    version: str | None
    mode: str | None


@dataclass(frozen=True, slots=True)
class ScanResult:
    """What was found in an archive, nested ones included."""

    source: str
    updaters: list[UpdaterRecord] = field(default_factory=list)
    sites: list[SiteRecord] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    dex: list[DexFile] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class OptimizeOptions:
    """How to optimise.

    Attributes:
        target: `unsafe` for Android and JDK up to 23, `varhandle` for JDK 9 and newer; None chooses: `unsafe`
            for AARs, `varhandle` for jars.
        checked: Let the helpers check the types of holder and value, as the updaters do; for debugging.
        signatures: What to do with a signed archive: `refuse`, or `remove` the signatures.
    """

    target: Target | None = None
    checked: bool = False
    signatures: Literal["refuse", "remove"] = "refuse"


@dataclass(frozen=True, slots=True)
class OptimizeResult:
    """What was done to an archive.

    Attributes:
        source: The archive that was read.
        output: The archive that was written.
        target: What the direct calls use.
        updaters: All updaters, with what became of them.
        sites: All calls, with what became of them: the proof log.
        classes_changed: Paths of the class files that differ.
        classes_added: Paths of new class files.
        skipped: What was not looked into.
    """

    source: str
    output: str
    target: Target
    updaters: list[UpdaterRecord] = field(default_factory=list)
    sites: list[SiteRecord] = field(default_factory=list)
    classes_changed: list[str] = field(default_factory=list)
    classes_added: list[str] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
