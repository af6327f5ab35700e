"""Makes a trace's strings fit for people: none of it can steer the terminal, and names are short."""

import re

_SITE = re.compile(r"(?P<method>\S+)\(\) \((?P<place>.*)\)")

# Controls (ESC starts a terminal's commands), line separators, marks that reverse the direction of
# text, and lone surrogates, which no encoding can write.
_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def clean(text: str) -> str:
    r"""Replaces characters that would do something to a terminal by escapes that only show: ESC by `\x1b`."""
    return _UNSAFE.sub(lambda found: _escape(found[0]), text)


def short_site(site: str | None) -> str | None:
    """Shortens `package.Class.method() (file:line)` to `Class.method() (file:line)`."""
    parts = _SITE.fullmatch(site) if site else None
    if parts is None:
        return site
    return f"{'.'.join(parts['method'].split('.')[-2:])}() ({parts['place']})"


def as_sentence(text: str) -> str:
    """Gives a note its capital letter and full stop."""
    text = text.strip()
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
