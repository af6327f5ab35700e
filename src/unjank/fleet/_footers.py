"""Footers of parts, read once: a result of a million traces has many, and an object store is far away."""

import zlib
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor

from unjank.fleet._columns import Schema
from unjank.fleet._part import Ledger, read_ledger
from unjank.fleet._storage import Storage

_READERS = 16  # at a time: reading is waiting


class FooterCache:
    """The columns and ledgers of a folder's parts, kept compressed."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._known: dict[str, tuple[Schema, bytes]] = {}

    def read(self, names: Iterable[str]) -> Iterator[tuple[str, Schema, Ledger]]:
        """Of each part its name, columns and traces.

        Raises:
            UnjankError: One of the files is not a part.
        """
        names = list(names)
        unknown = [name for name in names if name not in self._known]
        if unknown:
            with ThreadPoolExecutor(_READERS, "unjank footers") as readers:
                self._known.update(zip(unknown, readers.map(self._read, unknown), strict=True))
        for name in names:
            schema, packed = self._known[name]
            yield name, schema, Ledger.decode(zlib.decompress(packed))

    def forget(self, name: str) -> None:
        """Reads a part again when it is asked for, since it was written anew."""
        self._known.pop(name, None)

    def _read(self, name: str) -> tuple[Schema, bytes]:
        schema, ledger = read_ledger(self._storage, name)
        return schema, zlib.compress(ledger.encode(), 1)
