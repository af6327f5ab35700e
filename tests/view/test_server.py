"""The server gives out the UI and one trace, to this machine, and nothing else."""

import os
import socket
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from urllib.parse import unquote

import pytest

from unjank import TraceError, UnjankError
from unjank.view import PREFERRED_PORT, ServedTrace, serve_trace

UI = "/v"  # of the version's folder


def get(served: ServedTrace, path: str, *, method: str = "GET", host: str | None = None) -> HTTPResponse:
    """Asks for a path exactly as it stands."""
    connection = HTTPConnection("127.0.0.1", served.port, timeout=30)
    connection.putrequest(method, path, skip_host=True)
    connection.putheader("Host", host or f"127.0.0.1:{served.port}")
    connection.endheaders()
    response = connection.getresponse()
    response.body = response.read()  # type: ignore[attr-defined]
    return response


def body(response: HTTPResponse) -> bytes:
    """What was answered."""
    return response.body  # type: ignore[attr-defined,no-any-return]


def trace_path(served: ServedTrace) -> str:
    """The path of the trace, with its secret."""
    return unquote(served.url.partition("?url=")[2]).removeprefix(f"http://127.0.0.1:{served.port}")


def test_trace_is_given_as_it_is(served: ServedTrace, trace: Path) -> None:
    """The trace arrives byte for byte, under the address that the page is opened with."""
    response = get(served, trace_path(served))
    assert (response.status, body(response)) == (200, trace.read_bytes())
    assert response.headers["Content-Type"] == "application/octet-stream"


def test_trace_that_grows(served: ServedTrace, trace: Path) -> None:
    """A trace that is being recorded is given as far as it is there, also after it grew."""
    with trace.open("ab") as file:
        file.write(b"more")
    assert body(get(served, trace_path(served))).endswith(b"more")


def test_trace_that_was_moved_away(served: ServedTrace, trace: Path) -> None:
    """A trace that is there no more is said to be gone."""
    trace.unlink()
    assert get(served, trace_path(served)).status == 410


def test_ui_starts_with_the_script_that_knows_the_tab(served: ServedTrace) -> None:
    """The start page is the UI's, with one script more, before its own."""
    page = body(get(served, "/")).decode()
    assert page.index('<script src="/unjank.js">') < page.index("frontend_bundle.js")
    assert get(served, "/unjank.js").headers["Content-Type"].startswith("text/javascript")


def test_headers_keep_pages_apart(served: ServedTrace) -> None:
    """No other page may embed or read what is served, and this page may load from nowhere else."""
    for path in ("/", trace_path(served), "/nothing"):
        headers = get(served, path).headers
        assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Cache-Control"] == "no-store"
        assert "connect-src 'self' data: blob:;" in headers["Content-Security-Policy"]
        assert "Access-Control-Allow-Origin" not in headers


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "[::1]:{port}", ""]
)
def test_foreign_names_for_this_machine_are_refused(served: ServedTrace, host: str) -> None:
    """A page whose name was made to lead here (DNS rebinding) gets nothing."""
    name = host.format(port=served.port) or " "
    for path in ("/", trace_path(served)):
        response = get(served, path, host=name)
        assert (response.status, body(response)) == (421, b"Misdirected Request")


def test_own_names(served: ServedTrace) -> None:
    """Both names of the loopback interface are good."""
    assert get(served, "/", host=f"localhost:{served.port}").status == 200


def test_two_hosts_are_refused(served: ServedTrace) -> None:
    """A request without a Host has no page behind it that we served."""
    with socket.create_connection(("127.0.0.1", served.port), timeout=30) as connection:
        connection.sendall(b"GET / HTTP/1.0\r\n\r\n")
        assert connection.recv(100).startswith(b"HTTP/1.1 421 ")


@pytest.mark.parametrize(
    "path",
    [
        "/../../../../../../etc/passwd",
        "/..%2f..%2f..%2fetc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "//etc/passwd",
        "/etc/passwd",
        "file:///etc/passwd",
        "/service_worker.js",
        "/trace_processor",
        "/present",
        "/v52.0-6b9586def/../index.html",
        "/v52.0-6b9586def/",
        "/\x00",
    ],
)
def test_no_way_out(served: ServedTrace, path: str) -> None:
    """Whatever else is asked for is not there: other files, folders, the UI's own tools."""
    with socket.create_connection(("127.0.0.1", served.port), timeout=30) as connection:
        request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\nConnection: close\r\n\r\n"
        connection.sendall(request.encode())
        answer = connection.makefile("rb").read()
    assert answer.startswith(b"HTTP/1.1 404 ")
    assert answer.endswith(b"\r\n\r\nNot Found")


def test_trace_needs_its_secret(served: ServedTrace, trace: Path) -> None:
    """The trace's name alone, or with another server's secret, is not enough."""
    secret, name = trace_path(served).rsplit("/", 1)
    with serve_trace(trace, port=0) as other:
        assert get(other, f"/{name}").status == 404
        assert get(other, f"{secret}/{name}").status == 404
        assert len(secret) > 20


def test_neighbours_of_the_trace_are_not_served(served: ServedTrace, trace: Path) -> None:
    """Another file in the trace's folder is not to be had."""
    (trace.parent / "other.pftrace").write_bytes(b"x")
    secret = trace_path(served).rsplit("/", 1)[0]
    assert get(served, f"{secret}/other.pftrace").status == 404


def test_reading_only(served: ServedTrace) -> None:
    """HEAD tells sizes without the content; nothing can be sent here."""
    head = get(served, trace_path(served), method="HEAD")
    assert (head.status, body(head)) == (200, b"")
    assert int(head.headers["Content-Length"]) > 0
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        assert get(served, "/", method=method).status == 501


def test_loopback_only(served: ServedTrace) -> None:
    """The server listens on 127.0.0.1 and on no other address of the machine."""
    table = (
        Path("/proc/net/tcp").read_text().splitlines()[1:]
        + Path("/proc/net/tcp6").read_text().splitlines()[1:]
    )
    listening = [line.split()[1] for line in table if line.split()[3] == "0A"]
    port = f"{served.port:04X}"
    assert [address for address in listening if address.endswith(f":{port}")] == [f"0100007F:{port}"]


def test_several_traces_at_once(trace: Path) -> None:
    """A second server finds a port of its own when the usual one is taken."""
    with serve_trace(trace) as first, serve_trace(trace) as second:
        assert first.port != second.port
        assert second.port != PREFERRED_PORT


def test_port_that_is_taken(served: ServedTrace, trace: Path) -> None:
    """A port that was asked for and cannot be had is an error that names the way out."""
    with pytest.raises(
        UnjankError, match=rf"port {served.port} cannot be used: Address already in use; name another"
    ):
        serve_trace(trace, port=served.port).__enter__()


def test_traces_that_cannot_be_served(tmp_path: Path) -> None:
    """What is no trace's file is an error before anything listens."""
    empty, pipe = tmp_path / "empty", tmp_path / "pipe"
    empty.touch()
    os.mkfifo(pipe)
    bad = {tmp_path: "is a folder", empty: "is empty", tmp_path / "none": "no such file", pipe: "only once"}
    for path, words in bad.items():
        with pytest.raises(TraceError, match=words):
            serve_trace(path).__enter__()
