"""A machine to probe that is not this one: `/proc` and `/sys` in a folder; and this one's tracefs."""

import os
import threading
from pathlib import Path

import pytest

ALL_CAPABILITIES = "000001ffffffffff"


class FakeMachine:
    """Files under `root` as a kernel would show them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.tracefs = root / "sys/kernel/tracing"
        self.self_proc = root / "proc/self"
        self.schedstat = self.self_proc / f"task/{threading.get_native_id()}/schedstat"
        self.schedstat.parent.mkdir(parents=True)
        self.schedstat.write_text("123456 789 10\n")
        self.set_capabilities(ALL_CAPABILITIES)
        self.set_mounts()

    def set_capabilities(self, mask: str) -> None:
        """Sets the effective capabilities of this process."""
        (self.self_proc / "status").write_text(f"Name:\tpython\nCapEff:\t{mask}\n")

    def set_mounts(self, *tracefs: tuple[str, str, str]) -> None:
        """Mounts tracefs at each (path, options, super options)."""
        lines = ["22 1 254:0 / / rw - ext4 /dev/vda rw"]
        lines += [
            f"25 30 0:12 / {path} {options} shared:9 - tracefs nodev {over}"
            for path, options, over in tracefs
        ]
        (self.self_proc / "mountinfo").write_text("\n".join(lines) + "\n")

    def mount_tracefs(self, options: str = "rw", super_options: str = "rw") -> None:
        """Mounts a tracefs that has all that is needed."""
        self.set_mounts(("/sys/kernel/tracing", options, super_options))
        (self.tracefs / "instances").mkdir(parents=True, exist_ok=True)
        (self.tracefs / "events/sched/sched_switch").mkdir(parents=True, exist_ok=True)
        (self.tracefs / "events/header_page").write_text("field")
        (self.tracefs / "events/sched/sched_switch/format").write_text("name: sched_switch")
        (self.tracefs / "trace_clock").write_text("[local] global mono boot\n")


@pytest.fixture
def machine(tmp_path: Path) -> FakeMachine:
    """A machine with schedstat and, to begin with, no tracefs."""
    return FakeMachine(tmp_path / "machine")


@pytest.fixture(scope="session")
def real_tracefs() -> Path:
    """This machine's tracefs, where the tests may write it."""
    path = Path("/sys/kernel/tracing")
    if os.geteuid() != 0:
        pytest.skip("not root: tracefs is closed")
    if not (path / "instances").is_dir():
        pytest.skip("no tracefs mounted at /sys/kernel/tracing")
    if not os.access(path / "instances", os.W_OK):
        pytest.skip("tracefs is read-only")
    return path
