"""Which level is said to work, why not a closer one, and what is chosen."""

import os
from pathlib import Path
from typing import Any

import pytest

from unjank import SchedulingUnavailableError
from unjank.record.sched import choose, probe

NO_CAPABILITIES = "0000000000000000"


def test_both_levels_work_on_a_machine_that_has_both(machine: Any) -> None:
    """A writable tracefs with the boot clock and sched_switch is all that ftrace needs."""
    machine.mount_tracefs()
    found = probe(machine.root)
    assert (found.ftrace.works, found.procfs.works, found.best) == (True, True, "ftrace")
    assert choose("auto", machine.root).level == "ftrace"


def test_a_kernel_without_tracefs(machine: Any) -> None:
    """No mount point means the kernel lacks it."""
    level = probe(machine.root).ftrace
    assert level.reason == "this kernel has no tracefs"
    assert "CONFIG_FTRACE" in level.remedy


def test_unmounted_tracefs_works_for_those_who_may_mount_it(machine: Any) -> None:
    """Probing does not mount; it says that recording will."""
    machine.tracefs.mkdir(parents=True)
    level = probe(machine.root).ftrace
    assert level.works
    assert level.reason == "tracefs is not mounted yet; a recording mounts it"


def test_unmounted_tracefs_without_rights(machine: Any) -> None:
    """Who may not mount is told the command."""
    machine.tracefs.mkdir(parents=True)
    machine.set_capabilities(NO_CAPABILITIES)
    level = probe(machine.root).ftrace
    assert not level.works
    assert level.reason == "tracefs is not mounted, and mounting it takes root"
    assert "sudo mount -t tracefs nodev /sys/kernel/tracing" in level.remedy


def test_read_only_tracefs(machine: Any) -> None:
    """A read-only mount, as in containers, is named with the way to remount it."""
    machine.mount_tracefs("ro")
    level = probe(machine.root).ftrace
    assert level.reason == f"tracefs at {machine.tracefs} is mounted read-only"
    assert f"sudo mount -o remount,rw {machine.tracefs}" in level.remedy


def test_closed_tracefs(machine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where only root may enter, recording as root is the way."""
    machine.mount_tracefs()
    monkeypatch.setattr(os, "access", lambda *_, **__: False)
    level = probe(machine.root).ftrace
    assert level.reason == f"tracefs at {machine.tracefs} is open to root only"
    assert "sudo" in level.remedy


def test_a_kernel_without_the_boot_clock(machine: Any) -> None:
    """A trace clock that does not agree with the other packets is not used."""
    machine.mount_tracefs()
    (machine.tracefs / "trace_clock").write_text("[local] global reboot\n")
    assert probe(machine.root).ftrace.reason == "the kernel has no trace clock 'boot'"


def test_the_boot_clock_counts_when_it_is_the_current_one(machine: Any) -> None:
    """Brackets mark the current clock."""
    machine.mount_tracefs()
    (machine.tracefs / "trace_clock").write_text("local [boot]\n")
    assert probe(machine.root).ftrace.works


def test_a_kernel_without_sched_switch(machine: Any) -> None:
    """Without the event there is nothing to record."""
    machine.mount_tracefs()
    (machine.tracefs / "events/sched/sched_switch/format").unlink()
    assert probe(machine.root).ftrace.reason == "the kernel has no event sched_switch"


def test_an_unreadable_tracefs(machine: Any) -> None:
    """What the kernel answers is passed on, lockdown being the usual cause."""
    machine.mount_tracefs()
    (machine.tracefs / "events/header_page").unlink()
    level = probe(machine.root).ftrace
    assert "cannot be read: No such file or directory" in level.reason
    assert "lockdown" in level.remedy


@pytest.mark.parametrize("text", ["0 0 0\n", "", "nonsense\n"])
def test_schedstat_that_counts_nothing(machine: Any, text: str) -> None:
    """A thread that has run and shows no run time is not counted at all."""
    machine.schedstat.write_text(text)
    level = probe(machine.root).procfs
    assert not level.works
    assert "shows no run time" in level.reason


def test_schedstat_that_is_not_there(machine: Any) -> None:
    """A missing file is named with its cause."""
    machine.schedstat.unlink()
    found = probe(machine.root)
    assert found.procfs.reason == "/proc/PID/task/TID/schedstat cannot be read: No such file or directory"
    assert found.best == "off"


def test_auto_falls_back_and_says_why(machine: Any) -> None:
    """The reason for not using the closest level is kept."""
    machine.mount_tracefs("ro")
    chosen = choose("auto", machine.root)
    assert chosen.level == "procfs"
    assert chosen.reason == f"not ftrace: tracefs at {machine.tracefs} is mounted read-only"


def test_auto_without_any_level_says_why_for_each(machine: Any) -> None:
    """Nothing works: both causes are kept."""
    machine.schedstat.unlink()
    chosen = choose("auto", machine.root)
    assert chosen.level == "off"
    assert "not ftrace: this kernel has no tracefs; not procfs: " in chosen.reason


def test_a_level_that_was_asked_for_and_does_not_work_is_an_error(machine: Any) -> None:
    """Explicit ftrace is never replaced by something else."""
    machine.mount_tracefs("ro")
    with pytest.raises(
        SchedulingUnavailableError, match=r"--sched ftrace .* read-only; remount it: sudo mount"
    ):
        choose("ftrace", machine.root)
    machine.schedstat.unlink()
    with pytest.raises(SchedulingUnavailableError, match=r"--sched procfs .* CONFIG_SCHED_INFO"):
        choose("procfs", machine.root)


def test_levels_asked_for_are_taken(machine: Any) -> None:
    """What works and was named is chosen, a less close level too."""
    machine.mount_tracefs()
    names = ("ftrace", "procfs", "off")
    assert tuple(choose(name, machine.root).level for name in names) == names


def test_an_unknown_level_names_the_known_ones(machine: Any) -> None:
    """A typing error is answered with the choices."""
    with pytest.raises(SchedulingUnavailableError, match="auto, ftrace, procfs, off"):
        choose("kernel", machine.root)


def test_this_machine_is_judged_without_error() -> None:
    """On a real machine each level has a reason, and one that does not work a remedy."""
    found = probe()
    for level in (found.ftrace, found.procfs):
        assert level.reason
        assert level.works or level.remedy


def test_the_probe_changes_nothing(real_tracefs: Path) -> None:
    """Looking makes no instance."""
    before = sorted((real_tracefs / "instances").iterdir())
    probe()
    assert sorted((real_tracefs / "instances").iterdir()) == before
