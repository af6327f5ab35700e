"""The HTTP server: loopback only, reads only, and only for pages that it served itself."""

import io
import os
import sys
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingTCPServer
from typing import Any, BinaryIO

from unjank.view._presence import Presence
from unjank.view._site import Resource, Site

LOOPBACK = "127.0.0.1"
_NAMES = (LOOPBACK, "localhost")
_CHUNK = 1 << 20

# Nothing that the page loads or sends leaves this origin, whatever the UI or a trace asks for.
_POLICY = (
    "default-src 'self' data: blob: 'unsafe-inline' 'unsafe-eval'; connect-src 'self' data: blob:; "
    "object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": _POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class Server(ThreadingTCPServer):
    """Answers each connection in a thread of its own.

    Args:
        port: Where to listen, on the loopback interface; 0 is any free port.
        site: What to give out.
        presence: Is told of the tabs that are open.

    Raises:
        OSError: The port cannot be had.
    """

    allow_reuse_address = True  # of a server that has ended; not of one that listens
    daemon_threads = True
    request_queue_size = 64  # a browser opens several connections at once

    def __init__(self, port: int, site: Site, presence: Presence) -> None:
        self.site = site
        self.presence = presence
        super().__init__((LOOPBACK, port), _Handler)

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(self.server_address[1])

    def is_own_host(self, host: str | None) -> bool:
        """True if a request's Host names us.

        Another name means that a foreign page's name was made to lead here (DNS rebinding).
        """
        return host in {f"{name}:{self.port}" for name in _NAMES}

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401  as in the base class
        """A browser that goes away in the middle of an answer is no error."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    server_version, sys_version = "unjank", ""
    server: Server

    def do_GET(self) -> None:
        """Answers a request."""
        site = self.server.site
        path = self.path.partition("?")[0]
        if not self.server.is_own_host(self.headers.get("Host")):
            self._refuse(HTTPStatus.MISDIRECTED_REQUEST)
        elif path == site.presence_path and self.command == "GET":
            self._hold()
        elif resource := site.resources.get(path):
            self._give(resource)
        else:
            self._refuse(HTTPStatus.NOT_FOUND)

    do_HEAD = do_GET  # noqa: N815  the base class's name

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the base class's name
        """Keeps quiet: standard error is for the user."""

    def _refuse(self, status: HTTPStatus) -> None:
        text = status.phrase.encode("ascii")
        self._begin(status, "text/plain; charset=utf-8", len(text))
        self._send(io.BytesIO(text), len(text))

    def _give(self, resource: Resource) -> None:
        try:
            file = _opened(resource)
        except OSError:  # the trace was moved away since
            self._refuse(HTTPStatus.GONE)
            return
        with file:
            # As long as it is now: a trace that is still being recorded grows meanwhile.
            length = file.seek(0, os.SEEK_END)
            file.seek(0)
            self._begin(HTTPStatus.OK, resource.media_type, length)
            self._send(file, length)

    def _hold(self) -> None:
        """Keeps the connection until the tab closes it; the browser never sends anything on it."""
        self._begin(HTTPStatus.OK, "text/event-stream", None)
        with self.server.presence.tab():
            self.wfile.write(b":\n\n")
            while self.connection.recv(1024):
                pass

    def _begin(self, status: HTTPStatus, media_type: str, length: int | None) -> None:
        """Sends the headers; a length of None is an answer that the connection's end ends."""
        self.send_response(status)
        self.send_header("Content-Type", media_type)
        if length is None:
            self.send_header("Connection", "close")
        else:
            self.send_header("Content-Length", str(length))
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        self.end_headers()

    def _send(self, file: BinaryIO, length: int) -> None:
        """Sends that many bytes, or closes the connection if the file has fewer by now."""
        while self.command != "HEAD" and length > 0:
            chunk = file.read(min(length, _CHUNK))
            if not chunk:
                self.close_connection = True
                return
            self.wfile.write(chunk)
            length -= len(chunk)


def _opened(resource: Resource) -> BinaryIO:
    return (
        io.BytesIO(resource.content) if isinstance(resource.content, bytes) else resource.content.open("rb")
    )
