"""Each bad trace gets one clear line that starts with its name."""

import os
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest

from unjank import TraceError, TraceProcessor


def _message(trace: object) -> str:
    with pytest.raises(TraceError) as caught:
        TraceProcessor(trace)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("bad_gecko_aborts_engine.json", "the engine aborted; the trace may be damaged"),
        ("bad_system_trace_events.json", "can't be loaded: Failure parsing JSON: systemTraceEvents"),
        ("bad_unknown_type.txt", "is not a trace of any format the engine knows"),
        ("README.md", "is not a trace of any format the engine knows"),
    ],
)
def test_refused_by_the_engine(traces_dir: Path, name: str, cause: str) -> None:
    """The message is the file's name and the engine's reason."""
    assert _message(traces_dir / name).startswith(f"{traces_dir / name}: {cause}")


def test_missing(tmp_path: Path) -> None:
    """A file that does not exist is named."""
    assert _message(tmp_path / "none") == f"{tmp_path / 'none'}: no such file"
    assert _message(str(tmp_path / "none:x")) == f"{tmp_path / 'none:x'}: no such file"


def test_folder(tmp_path: Path) -> None:
    """A folder is not a trace."""
    assert "is a folder" in _message(tmp_path)


def test_empty(tmp_path: Path) -> None:
    """An empty file is called empty, not a trace without slices."""
    (tmp_path / "empty").touch()
    assert "is empty" in _message(tmp_path / "empty")
    assert "is empty" in _message(BytesIO())
    assert "is empty" in _message(iter(()))
    assert "is empty" in _message(b"")
    assert "is empty" in _message("")


def test_unreadable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file without read permission is named as such."""
    path = tmp_path / "secret"
    path.write_bytes(b"x")
    path.chmod(0)
    if os.geteuid() == 0:  # to whom the mode means nothing
        monkeypatch.setattr(os, "access", lambda *_: False)
    assert "may not be read" in _message(path)


@pytest.mark.parametrize(
    "data", [bytes(5000), b"\xff" * 5000, b"hello\n" * 100], ids=["zeros", "ones", "text"]
)
def test_no_trace_at_all(tmp_path: Path, data: bytes) -> None:
    """Something else is called that."""
    (tmp_path / "other").write_bytes(data)
    assert "not a trace of any format" in _message(tmp_path / "other")


def test_error_while_reading_is_passed_on() -> None:
    """An error of the iterator that gives the bytes reaches the caller unchanged."""

    def broken() -> Iterator[bytes]:
        yield b"\x0a\x00"
        raise ValueError("the network is gone")

    with pytest.raises(ValueError, match="the network is gone"):
        TraceProcessor(broken())


def test_systrace_with_nothing_in_it(traces_dir: Path) -> None:
    """A systrace page without events loads, and has no slices."""
    with TraceProcessor(traces_dir / "empty_systrace.html") as tp:
        assert tp.rows("SELECT COUNT(*) AS n FROM slice") == [{"n": 0}]


def test_pipe(tmp_path: Path, traces_dir: Path) -> None:
    """A trace may come through a named pipe, which can be read only once."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    child = os.posix_spawn(
        "/bin/sh",
        ["sh", "-c", 'cat "$1" > "$2"', "sh", str(traces_dir / "chrome_simple.json"), str(pipe)],
        {},
    )
    with TraceProcessor(pipe) as tp:
        assert tp.rows("SELECT COUNT(*) AS n FROM slice") == [{"n": 18}]
    os.waitpid(child, 0)
