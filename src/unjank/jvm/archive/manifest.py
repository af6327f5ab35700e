"""MANIFEST.MF: which modules and layers, and how the digests of a signature are taken out."""

import re

from unjank.jvm.errors import ArchiveError

MANIFEST = "META-INF/MANIFEST.MF"

_LINE_END = re.compile(rb"\r\n|\r|\n")
_SECTION_END = re.compile(rb"\n{2,}")
_DIGEST = re.compile(rb"[^:]*-Digest(?:-[^:]*)?$", re.IGNORECASE)


def without_digests(manifest: bytes) -> bytes:
    """The manifest without the digests of entries; sections that had nothing else go.

    Raises:
        ArchiveError: The manifest is empty.
    """
    lines = _LINE_END.sub(b"\n", manifest)
    if not lines.strip():
        raise ArchiveError(f"{MANIFEST} is empty")
    main, *sections = (part for part in _SECTION_END.split(lines) if part.strip())
    kept = [main.strip(b"\n").replace(b"\n", b"\r\n")]
    for section in sections:
        attributes = [line for line in _unfolded(section) if not _DIGEST.match(line.partition(b":")[0])]
        if any(not line.lower().startswith(b"name:") for line in attributes):
            kept.append(b"\r\n".join(_folded(line) for line in attributes))
    return b"".join(part + b"\r\n\r\n" for part in kept)


def _unfolded(section: bytes) -> list[bytes]:
    """Attributes, each on one line: a line that begins with a space continues the one before."""
    lines: list[bytes] = []
    for line in filter(None, section.split(b"\n")):
        if line.startswith(b" ") and lines:
            lines[-1] += line[1:]
        else:
            lines.append(line)
    return lines


def _folded(line: bytes) -> bytes:
    """An attribute in lines of at most 72 bytes, as the format demands."""
    rows = [line[:72]] + [b" " + line[at : at + 71] for at in range(72, len(line), 71)]
    return b"\r\n".join(rows)
