"""Saves what a cut-off gzip, zip or JSON trace still holds, where the engine refuses it as a whole."""

import io
import re
import struct
import zipfile
import zlib
from dataclasses import dataclass

from unjank.trace.framing import PACKET_TAG
from unjank.trace.salvage_art import salvage_art
from unjank.trace.salvage_proto import salvage_packets
from unjank.trace.source import TraceSource

_CHUNK = 1 << 20
_GZIP_MAGIC, _ZIP_MAGIC = b"\x1f\x8b", b"PK\x03\x04"
# Whole strings are one token, so brackets within them are never seen; a lone quote opens the cut-off one.
_JSON_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|["\[\]{}]', re.DOTALL)
# In `[{…}]` an event's brackets are 1 deep, in `{"traceEvents": [{…}]}` they are 2 deep.
_DEEPEST_EVENT = 2
_LOCAL_HEADER = struct.Struct("<4sHHHHHIIIHH")
_STORED, _DEFLATED = 0, 8
_CLOSING = {b"[": b"]", b"{": b"}"}


@dataclass(frozen=True)
class Salvaged:
    """The bytes to load instead, and what to tell the user."""

    chunks: list[bytes]
    note: str


def salvage(source: TraceSource) -> Salvaged | None:
    """What can be loaded of a cut-off trace; None where nothing was cut off, or nothing can be saved."""
    if source.path is None:
        return None
    saved = _salvage_bytes(source.path.read_bytes())
    if saved is None:
        return None
    data, what = saved
    chunks = [data[start : start + _CHUNK] for start in range(0, len(data), _CHUNK)]
    return Salvaged(chunks, f"{what}; what can be read is shown")


def is_cut_off_zip(source: TraceSource) -> bool:
    """Whether it is a zip file without its directory, which the engine takes for one with nothing in it."""
    if source.path is None:
        return False
    with source.path.open("rb") as file:
        return file.read(4) == _ZIP_MAGIC and not zipfile.is_zipfile(file)


def _salvage_bytes(data: bytes) -> tuple[bytes, str] | None:
    if data.startswith(_GZIP_MAGIC):
        return _salvage_gzip(data)
    if data.startswith(_ZIP_MAGIC):
        return _salvage_zip(data)
    if data.lstrip()[:1] in (b"{", b"["):
        return _salvage_json(data)
    if data.startswith(PACKET_TAG):
        saved = salvage_packets(data)
        if saved is None:
            return None
        places = "one place" if saved[1] == 1 else f"{saved[1]} places"
        return saved[0], f"the trace is damaged in {places}"
    art = salvage_art(data)
    return (art, "the ART method trace is cut off") if art else None


def _salvage_gzip(data: bytes) -> tuple[bytes, str] | None:
    inner = _inflate(data, zlib.MAX_WBITS | 16)
    if not inner:
        return None
    # A JSON trace in it is cut off as well, and is mended likewise.
    mended = _salvage_bytes(inner)
    return (mended[0] if mended else inner), "the compressed trace is cut off or damaged"


def _inflate(data: bytes, window_bits: int) -> bytes:
    return _inflate_member(data, window_bits)[0]


def _inflate_member(data: bytes, window_bits: int) -> tuple[bytes, int]:
    """Inflates as far as the data is good; returns the result and how many bytes of `data` it took."""
    inflater, parts, at, step = zlib.decompressobj(window_bits), [], 0, _CHUNK
    while at < len(data) and not inflater.eof and step:
        before = inflater.copy()
        try:
            parts.append(inflater.decompress(data[at : at + step]))
            at += step
        except zlib.error:
            inflater = before  # an error swallows all of its piece: come closer to it in smaller ones
            step //= 16
    return b"".join(parts), min(at, len(data)) - len(inflater.unused_data)


def _salvage_zip(data: bytes) -> tuple[bytes, str] | None:
    members = {name: content for name, content in _zip_members(data) if content}
    if not members:
        return None
    what = "the zip file is cut off or damaged"
    if len(members) == 1:
        return next(iter(members.values())), what
    rebuilt = io.BytesIO()
    with zipfile.ZipFile(rebuilt, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return rebuilt.getvalue(), what


def _zip_members(data: bytes) -> list[tuple[str, bytes]]:
    """Name and content of each member, found by the local headers; the last may be cut off."""
    members, at = [], 0
    while at >= 0 and at + _LOCAL_HEADER.size <= len(data) and data.startswith(_ZIP_MAGIC, at):
        _, _, _, method, _, _, _, packed, _, name_size, extra_size = _LOCAL_HEADER.unpack_from(data, at)
        name_at = at + _LOCAL_HEADER.size
        body = name_at + name_size + extra_size
        content = data[body : body + packed] if method == _STORED else b""
        if method == _DEFLATED:
            content, packed = _inflate_member(data[body:], -zlib.MAX_WBITS)
        mended = _salvage_bytes(content)
        name = data[name_at : name_at + name_size].decode("utf-8", "replace")
        members.append((name, mended[0] if mended else content))
        at = data.find(_ZIP_MAGIC, body + packed)  # a data descriptor may lie between
    return members


def _salvage_json(data: bytes) -> tuple[bytes, str] | None:
    """Drops the incomplete last event and closes what is open."""
    still_open: list[bytes] = []
    cut, closing, level = 0, b"", _DEEPEST_EVENT
    for token in _JSON_TOKEN.finditer(data):
        bracket = token[0]
        if bracket == b'"':
            break
        if bracket in _CLOSING:
            still_open.append(bracket)
        elif bracket in b"]}":
            if not still_open or _CLOSING[still_open.pop()] != bracket:
                return None
            if still_open and still_open[-1] == b"[" and len(still_open) <= level:
                level, cut = len(still_open), token.end()
                closing = b"".join(_CLOSING[opened] for opened in reversed(still_open))
    if not still_open or not cut:
        return None
    return data[:cut] + closing, "the JSON trace is cut off"
