"""What an untrusted archive may not do: names that lead out of a folder, content that explodes."""

import re

from unjank.jvm.errors import ArchiveError

MAX_CLASS = 32 << 20
"""Largest class file that is read; the format's own limits keep real ones far below."""
MAX_DEX = 256 << 20
"""Largest dex file."""
MAX_NESTED = 2 << 30
"""Largest nested archive."""
MAX_DEPTH = 6
"""Archives within archives."""
_MAX_RATIO = 150
"""Expansion that is believed beyond `_FREE`; deflate of real classes gives 2 to 10, at most 1032."""
_FREE = 64 << 20
_MAX_RATIO_IN_ALL = 50
_FREE_IN_ALL = 1 << 30

_DRIVE = re.compile(r"[A-Za-z]:[\\/]")


class Budget:
    """How much may be unpacked in all, nested archives included: many small bombs are one as well."""

    def __init__(self, archive_size: int) -> None:
        """Allows a multiple of the archive's own size."""
        self._left = _FREE_IN_ALL + _MAX_RATIO_IN_ALL * archive_size

    def take(self, name: str, size: int) -> None:
        """Notes that something is unpacked; raises ArchiveError if that is too much."""
        if size > self._left:
            raise ArchiveError(
                f"{name} would unpack to more than the whole archive may: taken for a zip bomb"
            )
        self._left -= size


def check_name(name: str) -> None:
    """Raises ArchiveError for a name that would lead out of the folder it is unpacked in."""
    parts = name.replace("\\", "/").split("/")
    if ".." in parts or name.startswith(("/", "\\")) or _DRIVE.match(name) or "\0" in name:
        raise ArchiveError(f"the entry name {name!r} leads out of the archive; such archives are not touched")


def check_expansion(name: str, packed: int, unpacked: int, limit: int) -> None:
    """Raises ArchiveError for content that is too large, or too large for what it is packed into."""
    if unpacked > limit:
        raise ArchiveError(
            f"{name} unpacks to {unpacked >> 20} MiB, more than the {limit >> 20} that are read"
        )
    if unpacked > _FREE and unpacked > _MAX_RATIO * packed:
        raise ArchiveError(
            f"{name} unpacks to {unpacked >> 20} MiB from {packed >> 10} KiB: taken for a zip bomb"
        )
