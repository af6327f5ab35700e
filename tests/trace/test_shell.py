"""Engine "shell": a trace_processor_shell that the user has, never one that is downloaded."""

import os
import sys
from pathlib import Path

import pytest
from perfetto.trace_processor.api import TraceProcessorConfig

from unjank import QueryError, TraceError, TraceProcessor
from unjank.trace import EngineUnavailableError
from unjank.trace.shell import find_shell

_FAKE = Path(__file__).with_name("fake_shell.py")


def _program(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.fixture
def shell(tmp_path: Path) -> Path:
    """A program that behaves as trace_processor_shell over HTTP."""
    return _program(
        tmp_path / "trace_processor_shell", f'#!/bin/sh\nexec "{sys.executable}" "{_FAKE}" "$@"\n'
    )


def test_same_answers_as_the_engine_in_this_process(api32_trace: Path, shell: Path) -> None:
    """Loading, rows, streaming and SQL errors come out the same."""
    sql = "SELECT id, name, dur FROM slice ORDER BY id LIMIT 500"
    with (
        TraceProcessor(api32_trace) as inside,
        TraceProcessor(api32_trace, engine="shell", shell_path=shell) as outside,
    ):
        assert outside.engine == "shell"
        assert outside.rows(sql) == inside.rows(sql)
        assert outside.notes == inside.notes
        messages = []
        for tp in (inside, outside):
            with pytest.raises(QueryError) as caught:
                tp.rows("SELECT nope FROM slice")
            messages.append(str(caught.value))
        assert messages[0] == messages[1]


def test_cut_off_trace_is_noted(tmp_path: Path, api32_trace: Path, shell: Path) -> None:
    """The note about a cut-off trace does not depend on the engine."""
    path = tmp_path / "cut"
    path.write_bytes(api32_trace.read_bytes()[:-3])
    with TraceProcessor(path, shell_path=shell) as tp:
        assert "cut off in the middle of a packet" in tp.notes[0]


def test_bad_trace(traces_dir: Path, shell: Path) -> None:
    """A bad trace is reported with its name here too."""
    with pytest.raises(TraceError, match=r"bad_unknown_type\.txt: is not a trace"):
        TraceProcessor(traces_dir / "bad_unknown_type.txt", shell_path=shell)


def test_shell_that_dies(traces_dir: Path, shell: Path) -> None:
    """A shell that goes away in the middle is one clear error."""
    with (
        TraceProcessor(traces_dir / "chrome_simple.json", shell_path=shell) as tp,
        pytest.raises(TraceError, match=r"chrome_simple\.json: the trace processor went away"),
    ):
        tp.query("die")


def test_shell_that_does_not_start(tmp_path: Path, api32_trace: Path) -> None:
    """What a shell says when it fails is in the message, on one line."""
    broken = _program(tmp_path / "broken", "#!/bin/sh\necho 'no such library' >&2\nexit 1\n")
    with pytest.raises(EngineUnavailableError, match=r"failed to start.*no such library") as caught:
        TraceProcessor(api32_trace, shell_path=broken)
    assert "\n" not in str(caught.value)


def test_no_session_to_connect_to(tmp_path: Path) -> None:
    """Where `remote` names nothing that runs, the message says how to start it."""
    with pytest.raises(EngineUnavailableError, match="No live trace processor session"):
        TraceProcessor(remote=str(tmp_path / "none.sock"))


def test_found_on_path(shell: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a path the one on PATH is used, and a path from perfetto's config counts as given."""
    monkeypatch.setenv("PATH", str(shell.parent))
    assert find_shell() == str(shell)
    with TraceProcessor(config=TraceProcessorConfig(bin_path=str(shell))) as tp:
        assert tp.engine == "shell"


def test_none_on_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without any, the message names the engine that is always there; nothing is fetched."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EngineUnavailableError, match=r"no trace_processor_shell on PATH.*'wasm'"):
        TraceProcessor(engine="shell")


def test_given_path_that_is_no_program(tmp_path: Path) -> None:
    """A path that can't be run is named."""
    (tmp_path / "text").write_text("x")
    for path in (tmp_path / "text", tmp_path / "none", tmp_path):
        with pytest.raises(EngineUnavailableError, match=f"{path} is not a program"):
            find_shell(path)
    assert not os.access(tmp_path / "text", os.X_OK)


def test_shell_path_with_another_engine(shell: Path) -> None:
    """A shell's path beside engine "wasm" is a contradiction."""
    with pytest.raises(EngineUnavailableError, match="use engine 'shell'"):
        TraceProcessor(engine="wasm", shell_path=shell)
