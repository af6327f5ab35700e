"""Fixtures for all tests: where the real traces are, and Ctrl-C as a terminal has it."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

_PROJECT = Path(__file__).resolve().parents[1]


def _data_folder(variable: str, default: Path) -> Path:
    folder = Path(os.environ.get(variable, default))
    if not folder.is_dir():
        pytest.skip(f"no folder {folder}; name one in {variable}")
    return folder


@pytest.fixture(scope="session", autouse=True)
def ctrl_c() -> Iterator[None]:
    """SIGINT interrupts, here and in child processes, though a shell's background job inherits it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def traces_dir() -> Path:
    """The folder of real traces: `$UNJANK_TRACES`, else `../shared/data/traces` beside the project."""
    return _data_folder("UNJANK_TRACES", _PROJECT.parent / "shared" / "data" / "traces")


@pytest.fixture(scope="session")
def queries_dir(traces_dir: Path) -> Path:
    """The folder of published queries: `$UNJANK_QUERIES`, else `queries` beside the folder of traces."""
    return _data_folder("UNJANK_QUERIES", traces_dir.parent / "queries")


@pytest.fixture(scope="session")
def api32_trace(traces_dir: Path) -> Path:
    """A warm start-up on Android API 32: 9,887 slices, 111 of them monitor contention."""
    return traces_dir / "android_startup_warm_api32.perfetto-trace"
