"""What all commands share: one-line errors, exit codes, readers that leave."""

import subprocess
import sys
from pathlib import Path

import pytest

UNJANK = str(Path(sys.executable).parent / "unjank")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The installed command with these arguments."""
    return subprocess.run([UNJANK, *arguments], capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize(
    "arguments", [("bogus",), ("report",), ("query", "--format", "xml", "t"), ("run", "--sched", "x")]
)
def test_wrong_usage_is_one_line_and_exit_2(arguments: tuple[str, ...]) -> None:
    """An unknown command, a missing argument or a bad value: one line that leads to the help."""
    done = run(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("unjank: ")
    assert "--help'" in line


def test_the_package_is_the_command_too(tmp_path: Path) -> None:
    """`python -m unjank` is `unjank`, also to record a program with."""
    script = tmp_path / "prog.py"
    script.write_text("print('ran')")
    command = [
        sys.executable,
        "-m",
        "unjank",
        "run",
        "--sched",
        "off",
        "-o",
        str(tmp_path / "t.pftrace"),
        str(script),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "ran")
    assert (tmp_path / "t.pftrace").stat().st_size > 0


@pytest.mark.parametrize("group", [(), ("cpu",), ("bench",), ("atomics",)])
def test_a_group_alone_is_its_help(group: tuple[str, ...]) -> None:
    """Its commands, exit code 2, and no error without words."""
    done = run(*group)
    assert done.returncode == 2
    assert "Commands" in done.stdout + done.stderr
    assert "unjank: " not in done.stderr


def test_help_is_wrapped_for_the_terminal() -> None:
    """Every paragraph flows, not the first alone: the source's line ends are not to be seen."""
    assert "threads that switch more than they work, that are moved" in " ".join(
        run("cpu", "stat", "--help").stdout.split()
    )
    lines = [line.strip() for line in run("cpu", "stat", "--help").stdout.splitlines()]
    assert "work, that are moved all the time, and that wait for a CPU more than half of" not in lines
    assert "threads that switch more than they" not in lines


def test_version() -> None:
    """--version prints name and version, and nothing else."""
    assert run("--version").stdout == "unjank 0.1.0\n"


@pytest.mark.parametrize("command", ["run", "report", "query", "doctor"])
def test_every_command_has_help(command: str) -> None:
    """COMMAND --help exits with 0 and tells how to call it."""
    done = run(command, "--help")
    assert done.returncode == 0
    assert f"unjank {command}" in done.stdout


def test_a_reader_that_leaves_is_no_error() -> None:
    """`unjank doctor | head -1`: exit code 0 and silence."""
    script = 'set -o pipefail; "$0" doctor | head -n 1 >/dev/null; echo "${PIPESTATUS[0]}"'
    done = subprocess.run(
        ["bash", "-c", script, UNJANK], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.stdout, done.stderr) == ("0\n", "")
