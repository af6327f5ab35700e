"""Plays trace_processor_shell: perfetto's HTTP protocol, answered by the in-process engine.

Stands in for the program that this machine may not have, so that everything up to the socket is real.
"""

import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import ClassVar

from perfetto.trace_processor.platform import PlatformDelegate
from perfetto.trace_processor.protos import ProtoFactory

from unjank.trace.backend import EngineBackend


class Handler(BaseHTTPRequestHandler):
    """One request of perfetto's client."""

    protocol_version = "HTTP/1.1"
    backend: ClassVar[EngineBackend]

    def do_GET(self) -> None:
        """/status and /notify_eof."""
        if self.path == "/notify_eof":
            self.backend.notify_eof()
        self._answer(b"")

    def do_POST(self) -> None:
        """/parse and /query; a query for "die" makes the shell die."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/parse":
            self._answer(self.backend.parse(body).SerializeToString())
            return
        arguments = self.backend.protos.QueryArgs.FromString(body)
        if arguments.sql_query == "die":
            sys.stderr.flush()
            self.server.server_close()
            raise SystemExit(3)
        self._answer(self.backend.execute_query(arguments.sql_query).SerializeToString())

    def _answer(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the base class's name
        """Silence."""


if __name__ == "__main__":
    Handler.backend = EngineBackend(ProtoFactory(PlatformDelegate()))
    HTTPServer(("localhost", int(sys.argv[sys.argv.index("--http-port") + 1])), Handler).serve_forever()
