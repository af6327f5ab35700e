"""Finding tracefs, and what belongs to whom in it."""

import os
from pathlib import Path
from typing import Any

import pytest

from unjank.record.sched.tracefs import TracefsInstance, find_tracefs, instance_owner, remove_stale_instances


def test_no_mount_is_found_where_there_is_none(machine: Any) -> None:
    """A mount table without tracefs gives nothing."""
    assert find_tracefs(machine.root) is None


def test_a_missing_mount_table_is_no_mount(tmp_path: Path) -> None:
    """Without /proc there is no error, only nothing."""
    assert find_tracefs(tmp_path) is None


@pytest.mark.parametrize(
    ("options", "super_options", "read_only"),
    [("rw,nosuid", "rw", False), ("ro,nosuid", "rw", True), ("rw", "ro", True)],
)
def test_read_only_is_seen_on_mount_and_file_system(
    machine: Any, options: str, super_options: str, read_only: bool
) -> None:
    """Either of the two makes a mount read-only."""
    machine.mount_tracefs(options, super_options)
    mount = find_tracefs(machine.root)
    assert mount is not None
    assert mount.path == machine.tracefs
    assert mount.read_only is read_only


def test_a_writable_mount_is_preferred(machine: Any) -> None:
    """Of two mounts, the one that can be written is taken; blanks in its path are unescaped."""
    machine.set_mounts(("/sys/kernel/tracing", "ro", "rw"), (r"/my\040tracing", "rw", "rw"))
    mount = find_tracefs(machine.root)
    assert mount is not None
    assert mount.path == machine.root / "my tracing"


@pytest.mark.parametrize(
    ("name", "owner"),
    [
        ("unjank-42", 42),
        ("unjank-42.1", 42),
        ("unjank-", None),
        ("unjank-x", None),
        ("unjank-4.x", None),
        ("unjankle-42", None),
        ("42", None),
    ],
)
def test_only_names_of_our_own_have_an_owner(name: str, owner: int | None) -> None:
    """Other programs' instances are never taken for ours."""
    assert instance_owner(name) == owner


def test_only_dead_recorders_instances_are_removed(machine: Any) -> None:
    """The instances of the living, and of others, stay."""
    machine.mount_tracefs()
    for name in ("unjank-42", "unjank-42.1", "unjank-43", "perfetto", "unjank-backup"):
        (machine.tracefs / "instances" / name).mkdir()
    (machine.root / "proc/43").mkdir()
    assert remove_stale_instances(machine.tracefs, machine.root / "proc") == ["unjank-42", "unjank-42.1"]
    left = sorted(path.name for path in (machine.tracefs / "instances").iterdir())
    assert left == ["perfetto", "unjank-43", "unjank-backup"]


def test_a_second_instance_of_a_process_has_a_name_of_its_own(machine: Any) -> None:
    """Two sessions of one process don't share an instance."""
    machine.mount_tracefs()
    names = [TracefsInstance.create(machine.tracefs, 7).path.name for _ in range(3)]
    assert names == ["unjank-7", "unjank-7.1", "unjank-7.2"]


def test_an_instance_that_cannot_be_removed_is_shrunk_and_said_so(machine: Any) -> None:
    """A busy instance is turned off and gives its memory back."""
    machine.mount_tracefs()
    instance = TracefsInstance.create(machine.tracefs, 7)
    for knob in ("tracing_on", "buffer_size_kb"):
        (instance.path / knob).write_text("1000")
    assert instance.remove() is False  # a folder with files in it: rmdir fails, as on a busy instance
    assert (instance.path / "tracing_on").read_text() == "0"
    assert (instance.path / "buffer_size_kb").read_text() == "1"


def test_an_instance_gets_clock_ring_and_events(machine: Any) -> None:
    """Each knob is written; an event that the kernel lacks is left out."""
    machine.mount_tracefs()
    instance = TracefsInstance.create(machine.tracefs, 7)
    (instance.path / "events/sched/sched_switch").mkdir(parents=True)
    knobs = [
        "tracing_on",
        "trace_clock",
        "buffer_size_kb",
        "buffer_percent",
        "events/sched/sched_switch/enable",
    ]
    for knob in knobs:
        (instance.path / knob).touch()
    instance.configure(["sched/sched_switch", "task/none"], ring_kb=4096, wake_percent=12)
    assert [(instance.path / knob).read_text() for knob in knobs] == ["0", "boot", "4096", "12", "1"]


def test_a_removed_instance_is_gone(real_tracefs: Path) -> None:
    """The kernel makes and removes an instance; a second remove is no error."""
    instance = TracefsInstance.create(real_tracefs, os.getpid())
    assert (instance.path / "trace_clock").exists()
    assert instance.remove() is True
    assert not instance.path.exists()
    assert instance.remove() is True
