"""Dex code of an APK: which calls still go through updaters, and which tool made it.

LIEF reads the file; the instructions are walked here. R8 and D8 leave a string behind that says which of the
two it was, and which version. Nothing can be rewritten: that has to be done before dexing.
"""

import json
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from struct import unpack_from
from typing import TYPE_CHECKING, Any

from unjank.jvm.analysis.operations import OPERATIONS
from unjank.jvm.analysis.reasons import Reason
from unjank.jvm.errors import ArchiveError
from unjank.jvm.model import Decision, DexFile, SiteRecord

if TYPE_CHECKING:
    import lief

_MAGIC = b"dex\n"
_HEADER = 0x70
_MARKERS = ("~~R8", "~~D8", "~~L8")
_INVOKE_VIRTUAL = (0x6E, 0x74)
_NOP = 0
_METHOD_NAMES = {(owner, name) for owner, name, _ in OPERATIONS}


def _code_units() -> bytes:
    """By opcode, an instruction's length in units of 16 bits (Dalvik bytecode, instruction formats)."""
    lengths = bytearray([1] * 256)
    spans = {
        2: "02 05 08 13 15 16 19 1a 1c 1f 20 22 23 29 2d-3d 44-6d 90-af d0-e2 fe ff",
        3: "03 06 09 14 17 1b 24 25 26 2a 2b 2c 6e-72 74-78 fc fd",
        4: "fa fb",
        5: "18",
    }
    for length, opcodes in spans.items():
        for span in opcodes.split():
            first, _, last = span.partition("-")
            for opcode in range(int(first, 16), int(last or first, 16) + 1):
                lengths[opcode] = length
    return bytes(lengths)


_UNITS = _code_units()


def scan_dex(data: bytes, entry: str) -> tuple[DexFile, list[SiteRecord]]:
    """Looks through one dex file.

    Args:
        data: Its content.
        entry: Its path in the archive, for records.

    Raises:
        ArchiveError: It is damaged, or LIEF is not installed.
    """
    _check(data, entry)
    dex = _parse(data, entry)
    methods = {method.index: method for method in dex.methods}
    sites = [
        site for method in methods.values() for site in _sites(method, bytes(method.bytecode), methods, entry)
    ]
    return DexFile(entry, *_tool(dex)), sites


def _check(data: bytes, entry: str) -> None:
    """LIEF takes what it can of damaged files; half a file would look like one without calls."""
    sound = (
        len(data) >= _HEADER
        and data[:4] == _MAGIC
        and unpack_from("<I", data, 0x20)[0] == len(data)
        and unpack_from("<I", data, 8)[0] == zlib.adler32(data[12:])
    )
    if not sound:
        raise ArchiveError(f"{entry} is no dex file, or damaged: its size or checksum does not fit")


def _parse(data: bytes, entry: str) -> "lief.DEX.File":
    try:
        import lief
    except ImportError as error:
        raise ArchiveError("reading dex code needs LIEF: pip install 'unjank[dex]'") from error
    lief.logging.disable()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "classes.dex"
        path.write_bytes(data)
        parsed = lief.DEX.parse(str(path))
    if parsed is None:
        raise ArchiveError(f"{entry} cannot be read as dex code")
    return parsed


def _sites(
    method: "lief.DEX.Method", code: bytes, methods: "dict[int, lief.DEX.Method]", entry: str
) -> Iterator[SiteRecord]:
    for at, index in _virtual_calls(code):
        called = methods.get(index)
        if called is None or (_class_of(called), str(called.name)) not in _METHOD_NAMES:
            continue
        yield SiteRecord(
            entry=entry,
            class_name=_class_of(method).replace("/", "."),
            method=str(method.name),
            offset=at,
            operation=str(called.name),
            updater=None,
            decision=Decision.KEPT,
            reason=Reason.DEX_REFLECTIVE.value,
            detail=Reason.DEX_REFLECTIVE.explanation,
        )


def _class_of(method: "lief.DEX.Method") -> str:
    """Internal name of the class that has a method; empty if the file does not say."""
    return method.cls.fullname[1:-1] if method.cls is not None else ""


def _virtual_calls(code: bytes) -> Iterator[tuple[int, int]]:
    """Place in bytes and method number of each invoke-virtual."""
    at = 0
    while at + 2 <= len(code):
        opcode = code[at]
        if opcode in _INVOKE_VIRTUAL and at + 4 <= len(code):
            yield at, unpack_from("<H", code, at + 2)[0]
        at += 2 * (_payload_units(code, at) if opcode == _NOP and code[at + 1] else _UNITS[opcode])


def _payload_units(code: bytes, at: int) -> int:
    """Length of a switch's or array's data, which begins like a nop."""
    kind = code[at + 1]
    if kind not in (1, 2, 3) or at + 8 > len(code):
        return 1
    (size,) = unpack_from("<H", code, at + 2)
    if kind == 1:
        return 4 + 2 * int(size)
    if kind == 2:
        return 2 + 4 * int(size)
    (elements,) = unpack_from("<I", code, at + 4)
    return 4 + (int(size) * int(elements) + 1) // 2


def _tool(dex: "lief.DEX.File") -> tuple[str | None, str | None, str | None]:
    """Which tool made it, its version and mode, by the string that it left."""
    for text in map(str, dex.strings):
        if text.startswith(_MARKERS):
            about = _json(text[4:])
            return text[2:4], about.get("version"), about.get("compilation-mode")
    return None, None, None


def _json(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
