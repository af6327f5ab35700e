"""Java's modified UTF-8: zero as two bytes, characters beyond the BMP as two encoded surrogates.

A decoded string keeps such surrogates apart, so that encoding it again gives the same bytes.
"""

from unjank.jvm.errors import ClassFileError


def decode_mutf8(raw: bytes) -> str:
    """The string of a Utf8 constant.

    Raises:
        ClassFileError: The bytes are no modified UTF-8.
    """
    try:
        return raw.replace(b"\xc0\x80", b"\0").decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise ClassFileError(f"a name is no modified UTF-8: {error.reason}") from error


def encode_mutf8(text: str) -> bytes:
    """The bytes of a Utf8 constant; characters beyond the BMP become two surrogates."""
    if text.isascii():
        return text.encode("ascii").replace(b"\0", b"\xc0\x80")
    units = text.encode("utf-16-be", "surrogatepass")
    split = "".join(chr(int.from_bytes(units[at : at + 2], "big")) for at in range(0, len(units), 2))
    return split.encode("utf-8", "surrogatepass").replace(b"\0", b"\xc0\x80")
