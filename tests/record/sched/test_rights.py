"""The real kernel's answers to those who may not: in processes of their own, with fewer rights."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CHOOSE = """
import os, sys
from unjank import SchedulingUnavailableError
from unjank.record.sched import choose
{drop}
try:
    print(choose("ftrace").level)
except SchedulingUnavailableError as error:
    print(error)
chosen = choose("auto")
print(chosen.level, chosen.reason, sep=": ")
"""
BECOME_NOBODY = "os.setgroups([]); os.setgid(65534); os.setuid(65534)"


def _choose(drop: str = "", shell: str | None = None) -> list[str]:
    """The answers to an explicit `ftrace` and to `auto`, in a mount namespace prepared by `shell`."""
    command = [sys.executable, "-c", CHOOSE.format(drop=drop)]
    if shell is not None:
        command = ["unshare", "-m", "sh", "-c", f'{shell} && exec "$@"', "sh", *command]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


@pytest.fixture(scope="module")
def own_mounts(real_tracefs: Path) -> Path:
    """tracefs, where a mount namespace can be made to change its mount in."""
    if shutil.which("unshare") is None:
        pytest.skip("no unshare(1) on PATH (Debian: util-linux)")
    if subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("mount namespaces are not allowed here")
    return real_tracefs


def test_not_root(real_tracefs: Path) -> None:
    """Without rights, ftrace is refused with the way to get them, and auto takes procfs."""
    explicit, auto = _choose(BECOME_NOBODY)
    assert explicit.startswith(
        f"--sched ftrace does not work here: tracefs at {real_tracefs} is open to root only"
    )
    assert "sudo" in explicit
    assert auto == f"procfs: not ftrace: tracefs at {real_tracefs} is open to root only"


def test_read_only(own_mounts: Path) -> None:
    """A read-only tracefs is refused even for root."""
    explicit, auto = _choose(shell=f"mount -o remount,ro,bind {own_mounts}")
    assert f"tracefs at {own_mounts} is mounted read-only; remount it: sudo mount -o remount,rw" in explicit
    assert auto == f"procfs: not ftrace: tracefs at {own_mounts} is mounted read-only"


def test_root_mounts_what_is_missing(own_mounts: Path) -> None:
    """For root, an unmounted tracefs is no obstacle."""
    explicit, auto = _choose(shell=f"umount {own_mounts}")
    assert explicit == "ftrace"
    assert auto.startswith("ftrace: ")


def test_others_are_told_to_mount_it(own_mounts: Path) -> None:
    """Without rights, an unmounted tracefs comes with the command that mounts it."""
    explicit, auto = _choose(BECOME_NOBODY, shell=f"umount {own_mounts}")
    assert "tracefs is not mounted, and mounting it takes root; mount it: sudo mount -t tracefs" in explicit
    assert auto.startswith("procfs: not ftrace: tracefs is not mounted")


def test_a_session_without_rights_is_refused_in_one_line(real_tracefs: Path, tmp_path: Path) -> None:
    """The session itself, started without choosing first, names the kernel's answer."""
    code = (
        "import os, pathlib\n"
        "from unjank import SchedulingUnavailableError\n"
        "from unjank.record.sched import FtraceSession\n"
        f"{BECOME_NOBODY}\n"
        "try:\n"
        f"    FtraceSession(pathlib.Path({str(tmp_path / 'out')!r})).start()\n"
        "except SchedulingUnavailableError as error:\n"
        "    print(error)\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    (line,) = result.stdout.splitlines()
    assert line.startswith("the kernel's scheduling cannot be recorded: ")
    assert os.strerror(13) in line
    assert "unjank doctor" in line
