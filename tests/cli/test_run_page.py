"""`unjank run --html`: from a program to a page in one command."""

import subprocess
import sysconfig
from pathlib import Path

UNJANK = Path(sysconfig.get_path("scripts")) / "unjank"
PROGRAM = """
import threading, time
lock = threading.Lock()
held = threading.Event()

def hold():
    with lock:
        held.set()
        time.sleep(0.05)

holder = threading.Thread(target=hold, name="holder <b>")
holder.start()
held.wait()
with lock:
    pass
holder.join()
"""


def run(tmp_path: Path, *options: str, more: str = "") -> "subprocess.CompletedProcess[str]":
    """Records the program."""
    (tmp_path / "prog.py").write_text(PROGRAM + more)
    command = [str(UNJANK), "run", "--sched", "off", *options, "prog.py"]
    return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)


def test_page_of_a_recording(tmp_path: Path) -> None:
    """The page tells of the wait that was recorded, with names escaped, and what was not recorded."""
    done = run(tmp_path, "--html", "page.html")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "held by holder &lt;b&gt; in hold() (prog.py:7)" in page
    assert "unjank run --sched ftrace" in page
    assert '<svg class="picture narrow"' in page


def test_page_that_cannot_be_written(tmp_path: Path) -> None:
    """What only shows when the page is written: the program's exit code counts, and the trace is kept."""
    (tmp_path / "gone").mkdir()
    done = run(tmp_path, "--html", "gone/page.html", more="import os; os.rmdir('gone')")
    assert done.returncode == 0
    assert "no report: gone/page.html" in done.stderr
    assert (tmp_path / "prog.pftrace").exists()
