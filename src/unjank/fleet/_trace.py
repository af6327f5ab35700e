"""A trace of the fleet: its name, and what its owner knows about it."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from unjank._errors import UnjankError


@dataclass(frozen=True)
class Trace:
    """One trace to look at.

    Attributes:
        name: Path or fsspec URL; also what the result calls it.
        metadata: Facts about it by name, such as the device; each becomes a column `trace_NAME`.
        base: Folder that a relative path starts from; empty is where the program was started.

    Raises:
        UnjankError: A fact is not text.
    """

    name: str
    metadata: Mapping[str, str] = field(default_factory=dict)
    base: str = ""

    def __post_init__(self) -> None:
        for key, value in self.metadata.items():
            if not (isinstance(key, str) and isinstance(value, str)):
                raise UnjankError(
                    f"{self.name}: metadata {key!r} is {value!r}; names and facts have to be text"
                )

    @classmethod
    def at(cls, name: str) -> "Trace":
        """The trace of a path or URL; folders named `KEY=VALUE` above it are its metadata."""
        return cls(name, facts_in_path(name))

    @property
    def place(self) -> str:
        """Where it is: a URL, or a path that starts from `base`."""
        return self.name if is_url(self.name) else os.path.join(self.base, self.name)  # noqa: PTH118  as given

    @property
    def label(self) -> str:
        """The name as valid text, which file names need not be."""
        return self.name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def is_url(name: str) -> bool:
    """True for text that fsspec takes for a URL, also a chained one."""
    return "://" in name or "::" in name


def facts_in_path(name: str) -> dict[str, str]:
    """What folders named `KEY=VALUE` say, as Hive and its successors lay out data."""
    facts = {}
    for part in PurePosixPath(name).parts[:-1]:
        key, equals, value = part.partition("=")
        if equals and key.isidentifier():
            facts[key] = value
    return facts
