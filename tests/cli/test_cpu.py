"""`unjank cpu`, as the installed command."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import sysconfig
import termios
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cpu.place.live import running_apart
from tests.cpu.place.test_wakeups import pingpong
from tests.findings.builder import TraceBuilder

UNJANK = str(Path(sysconfig.get_path("scripts")) / "unjank")
ALLOWED = os.sched_getaffinity(0)
ONE = min(ALLOWED)
BUSY = "import threading\nprint('ready', flush=True)\nwhile True: pass"
SHOW_AFFINITY = "import os; print(sorted(os.sched_getaffinity(0)))"


def unjank(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Runs `unjank cpu …`."""
    return subprocess.run([UNJANK, "cpu", *arguments], capture_output=True, text=True, check=False, **options)


def fails(*arguments: str) -> str:
    """The one line of an error, of a command that must fail with 2."""
    done = unjank(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    return done.stderr


@pytest.fixture
def busy() -> Iterator[subprocess.Popen[str]]:
    """A program that keeps a CPU busy."""
    child = subprocess.Popen([sys.executable, "-c", BUSY], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    child.stdout.readline()
    yield child
    child.kill()
    child.communicate()


def test_show_says_what_this_process_may_use() -> None:
    """The JSON has all CPUs; the table says the same in words."""
    done = unjank("show", "--json", "-")
    document = json.loads(done.stdout)
    assert document["schema"] == "unjank.cpu-show/1"
    assert len(document["cpus"]) >= len(ALLOWED)
    text = unjank("show").stdout
    assert f"may use CPU {document['allowed']}" in text
    assert "control group:" in text


def test_pin_binds_and_shows_that_it_works(busy: subprocess.Popen[str], tmp_path: Path) -> None:
    """The mask is set and stays; the row says where the threads ran and what they got."""
    path = tmp_path / "pin.json"
    done = unjank("pin", str(ONE), "--pid", str(busy.pid), "--watch", "0.2", "--json", str(path))
    assert done.returncode == 0, done.stderr
    assert os.sched_getaffinity(busy.pid) == {ONE}
    (row,) = json.loads(path.read_text())["threads"]
    assert (row["tid"], row["after"], row["last_cpus"], row["ran"]) == (busy.pid, str(ONE), str(ONE), True)
    assert row["cpu_share"] > 0
    assert "ran on" in done.stdout


def test_pin_for_a_time_puts_back(busy: subprocess.Popen[str]) -> None:
    """With --for the old mask is there again afterwards."""
    done = unjank("pin", str(ONE), "--tid", str(busy.pid), "--for", "0.1", "--watch", "0")
    assert done.returncode == 0
    assert done.stderr.endswith("put back\n")
    assert os.sched_getaffinity(busy.pid) == ALLOWED


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_puts_back(busy: subprocess.Popen[str], number: signal.Signals) -> None:
    """Ctrl-C and SIGTERM end a long --for with the old mask."""
    command = [UNJANK, "cpu", "pin", str(ONE), "--pid", str(busy.pid), "--for", "600", "--watch", "0"]
    pinning = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    assert pinning.stderr is not None
    assert "at Ctrl-C" in pinning.stderr.readline()
    assert os.sched_getaffinity(busy.pid) == {ONE}
    pinning.send_signal(number)
    assert "in force again" in pinning.communicate()[1]
    assert pinning.returncode == 130
    assert os.sched_getaffinity(busy.pid) == ALLOWED


def test_pin_starts_a_program() -> None:
    """Like taskset; the program's exit code is the command's."""
    done = unjank("pin", str(ONE), "--", sys.executable, "-c", SHOW_AFFINITY + "; raise SystemExit(7)")
    assert (done.stdout, done.returncode) == (f"[{ONE}]\n", 7)


def test_nice_of_a_program_and_of_a_thread(busy: subprocess.Popen[str]) -> None:
    """Java's names and plain values, for what is started and for what runs."""
    done = unjank("nice", "java:1", "--", sys.executable, "-c", "import os; print(os.nice(0))")
    assert done.stdout == "19\n"
    done = unjank("nice", "7", "--pid", str(busy.pid), "--watch", "0")
    assert os.getpriority(os.PRIO_PROCESS, busy.pid) == 7
    assert "nice 7" in done.stdout


def test_a_negative_value_is_a_value(busy: subprocess.Popen[str]) -> None:
    """-5 needs no -- before it; without rights the limit is named."""
    done = unjank("nice", "-5", "--pid", str(busy.pid), "--watch", "0", "--for", "0")
    if done.returncode == 0:
        assert "nice -5" in done.stdout
        assert os.getpriority(os.PRIO_PROCESS, busy.pid) == 0
    else:
        assert "RLIMIT_NICE" in done.stderr


def test_a_policy_needs_no_value() -> None:
    """`--policy batch -- PROGRAM` starts it so, and the program's own options are left alone."""
    code = "import os; print(os.sched_getscheduler(0))"
    assert unjank("nice", "--policy", "batch", "--", sys.executable, "-c", code).stdout == "3\n"


def test_stat_counts_samples(busy: subprocess.Popen[str]) -> None:
    """As many samples as asked for, each with every thread; the table has a row for it."""
    done = unjank("stat", str(busy.pid), "--interval", "0.1", "--count", "2", "--json", "-")
    document = json.loads(done.stdout)
    assert (document["schema"], len(document["samples"])) == ("unjank.cpu-stat/1", 2)
    (thread,) = document["samples"][1]["threads"]
    assert (thread["tid"], thread["state"]) == (busy.pid, "R")
    assert thread["cpu_share"] > 0
    text = unjank("stat", str(busy.pid), "--interval", "0.1", "--count", "1").stdout
    assert f"process {busy.pid} (" in text
    assert "): 1 thread, " in text


def test_stat_ends_with_its_process() -> None:
    """A process that ends is told, and what was sampled is written."""
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    command = [UNJANK, "cpu", "stat", str(child.pid), "--interval", "0.05"]
    watching = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert watching.stdout is not None
    watching.stdout.readline()
    child.communicate()
    assert f"process {child.pid} has ended" in watching.communicate()[1]
    assert watching.returncode == 0


def test_stat_ends_at_ctrl_c(busy: subprocess.Popen[str], tmp_path: Path) -> None:
    """Ctrl-C is the normal end: exit code 0, the samples are written."""
    path = tmp_path / "stat.json"
    command = [UNJANK, "cpu", "stat", str(busy.pid), "--interval", "0.05", "--json", str(path)]
    watching = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert watching.stdout is not None
    watching.stdout.readline()
    watching.send_signal(signal.SIGINT)
    watching.communicate()
    assert watching.returncode == 0
    assert json.loads(path.read_text())["samples"]


def test_stat_is_redrawn_on_a_terminal(busy: subprocess.Popen[str]) -> None:
    """On a terminal the table is drawn over the last one, with as many rows as there are lines."""
    ours, theirs = os.openpty()
    termios.tcsetwinsize(ours, (12, 100))
    command = [UNJANK, "cpu", "stat", str(busy.pid), "--interval", "0.05", "--count", "3"]
    watching = subprocess.Popen(command, stdout=theirs, env={**os.environ, "TERM": "xterm"})
    os.close(theirs)
    drawn = b""
    with contextlib.suppress(OSError):  # how a terminal tells that its other side is closed
        while data := os.read(ours, 4096):
            drawn += data
    os.close(ours)
    assert watching.wait() == 0
    assert drawn.count(f"process {busy.pid} (".encode()) >= 3
    assert b"\x1b[1A" in drawn  # up a line, to draw over it


@pytest.fixture
def idle_device() -> None:
    """A machine whose wake-up latency can be set, the one knob that virtual machines have too."""
    try:
        os.close(os.open("/dev/cpu_dma_latency", os.O_WRONLY))
    except OSError as error:
        pytest.skip(f"/dev/cpu_dma_latency cannot be opened: {error.strerror}")


@pytest.mark.usefixtures("idle_device")
def test_boost_while_a_program_runs(tmp_path: Path) -> None:
    """The program sees the knob turned; its exit code is the command's; frequencies are told."""
    code = "print(int.from_bytes(open('/dev/cpu_dma_latency', 'rb').read(4), 'little')); raise SystemExit(5)"
    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path)}
    path = tmp_path / "boost.json"
    done = unjank(
        "boost", "--wake-latency", "3", "--json", str(path), "--", sys.executable, "-c", code, env=environment
    )
    assert done.returncode == 5, done.stderr
    assert done.stdout.startswith("3\n")
    assert "MHz before" in done.stdout
    assert "cpu_dma_latency: held" in done.stderr
    document = json.loads(path.read_text())
    assert document["held"] == ["cpu_dma_latency"]
    assert {"cpu", "before", "during", "after"} == set(document["khz"][0])


@pytest.mark.usefixtures("idle_device")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_boost_until_a_signal(tmp_path: Path, number: signal.Signals) -> None:
    """Ctrl-C ends it with 0, SIGTERM too; nothing is left in the journal."""
    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path)}
    command = [UNJANK, "cpu", "boost", "--wake-latency", "3"]
    boosting = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )
    assert boosting.stderr is not None
    while "Ctrl-C ends it" not in boosting.stderr.readline():
        assert boosting.poll() is None
    boosting.send_signal(number)
    _, words = boosting.communicate()
    assert (boosting.returncode, words.splitlines()[-1]) == (0, "everything is put back")
    assert not (tmp_path / "unjank/boost.json").exists()


def test_boost_lists_what_there_is() -> None:
    """Absent knobs are listed with the reason; it is no error."""
    done = unjank("boost", "--list", "--json", "-")
    assert done.returncode == 0
    knobs = {knob["name"]: knob for knob in json.loads(done.stdout)["knobs"]}
    assert knobs["perflock"]["value"] is None
    assert knobs["perflock"]["reason"]


def test_boost_has_nothing_to_restore(tmp_path: Path) -> None:
    """Without a killed boost that is said."""
    done = unjank("boost", "--restore", env={**os.environ, "XDG_STATE_HOME": str(tmp_path)})
    assert (done.returncode, done.stderr) == (0, "nothing to put back: no boost was killed\n")


@pytest.fixture
def apart() -> Iterator[int]:
    """A program whose two threads hand a token to and fro between two CPUs."""
    with running_apart() as pid:
        yield pid


@pytest.fixture
def trace(tmp_path: Path) -> str:
    """A trace in which two threads wake each other across CPUs, 10,000 times a second each way."""
    builder = TraceBuilder()
    pingpong(builder, 100, (0, 1), 500)
    path = tmp_path / "pingpong.pftrace"
    path.write_bytes(builder.data())
    return str(path)


def test_place_plans_from_a_trace(trace: str) -> None:
    """Who wakes whom, where to put them, and why: as text and as JSON."""
    done = unjank("place", trace)
    assert done.returncode == 0, done.stderr
    assert "ping (101)" in done.stdout
    assert "one CPU spares waking another" in done.stdout
    document = json.loads(unjank("place", trace, "--json", "-").stdout)
    assert (document["schema"], document["trial"]) == ("unjank.cpu-place/1", None)
    (placement,) = document["placements"]
    assert (placement["tids"], placement["shares"]) == ([101, 102], "cpu")
    assert {"waker", "woken", "per_s", "crossed_per_s"} == set(document["wakeups"][0])


def test_place_of_a_trace_can_only_be_told(trace: str) -> None:
    """A trace is over: nothing can be applied; and it stands alone."""
    assert "--apply needs a running process" in fails("place", trace, "--apply")
    assert "or one trace file, not both" in fails("place", trace, "1")
    assert "shows no thread of process 7 running" in fails("place", trace, "--pid", "7")


def test_place_says_why_nothing_is_placed(trace: str) -> None:
    """With a limit that no pair reaches there is nothing to do on one cluster."""
    assert "nothing to do" in unjank("place", trace, "--tight", "90000").stdout


def test_place_tries_its_plan_on_a_live_program(apart: int) -> None:
    """Measured without and with it; in force afterwards only if it is called kept."""
    options = ["--seconds", "0.3", "--rounds", "1", "--tight", "1", "--apply", "--json", "-"]
    done = unjank("place", str(apart), *options)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    (placement,) = document["placements"]
    trial = document["trial"]
    assert trial["rate_of"] == "hand-overs"
    assert trial["before"]["crossed"] > trial["after"]["crossed"]
    masks = {frozenset(os.sched_getaffinity(tid)) for tid in placement["tids"]}
    assert len(masks) == (1 if trial["kept"] else 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["place", "999999999"], "there is no process 999999999"),
        (["place", "1", "--rate", "/dev/null"], "--rate is what --apply judges by"),
        (["place", "1", "--apply", "--rate", "/no/such/file"], "cannot be read"),
        (["pin", "0"], "whose? give --tid, --pid, or a command"),
        (["pin", "0", "--name", "x"], "--name chooses among the threads of a process"),
        (["pin", "0", "--pid", "1", "--", "true"], "not both"),
        (["pin", "fast", "--pid", "1"], "is not a set of CPUs"),
        (["pin", "0", "--tid", "999999999"], "there is no thread 999999999"),
        (["pin", "0", "--", "/no/such/program"], "cannot start /no/such/program"),
        (["pin", "0", "--pid", "no such"], "no process is called 'no such'"),
        (["pin", "0", "--tid", "0"], "there is no thread 0: ids begin at 1"),
        (["pin", "0", "--pid", "1", "--for", "nan"], "nan is not a finite number. See"),
        (["pin", "0", "--pid", "1", "--watch", "inf"], "inf is not in the range"),
        (["stat", "1", "--interval", "nan"], "nan is not a finite number. See"),
        (["stat", "1", "--interval", "1e9"], "is not in the range"),
        (["place", "1", "--seconds", "nan"], "nan is not a finite number. See"),
        (["place", "no.pftrace"], "there is no trace file of that name either"),
        (["boost", "--for", "nan"], "nan is not a finite number. See"),
        (["boost", "--wake-latency", "99999999999"], "is not in the range"),
        (["nice", "--policy", "deadline", "--runtime", "nan", "--tid", "1"], "nan is not a finite number"),
        (["nice", "--pid", "1"], "nothing to set; give a nice value such as 5, or --policy"),
        (["nice", "loud", "--pid", "1"], "is not a priority"),
        (["nice", "--loud", "5", "--pid", "1"], "there is no option --loud"),
        (["stat", "999999999"], "there is no process 999999999"),
        (["stat", "1", "--json", "/no/folder/x"], "there is no folder /no/folder"),
        (["boost", "--restore", "--for", "1"], "--restore goes alone"),
        (["boost", "--tid", "1"], "give --clamp too"),
        (["boost", "--perflock", "x"], "write NAME=VALUE"),
        (["boost", "--perflock", "x=1"], "no performance lock for ['x']"),
    ],
)
def test_wrong_use_is_one_line(arguments: list[str], message: str) -> None:
    """Exit code 2, nothing on standard output, cause and way out in one line."""
    assert message in fails(*arguments)
