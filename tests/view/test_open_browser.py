"""Opening the user's browser."""

import subprocess
import sys
from pathlib import Path

from unjank.view import open_browser

URL = "http://127.0.0.1:9040/#!/?url=http://127.0.0.1:9040/s/a%20b"


def test_no_window_no_browser() -> None:
    """Over ssh there is no browser to open, and none in the terminal is started."""
    assert open_browser(URL, {}) is False
    assert open_browser(URL, {"DISPLAY": "", "PATH": "/usr/bin"}) is False


def test_the_users_browser_gets_the_address(tmp_path: Path) -> None:
    """The program that BROWSER names is started with the whole address, also if it never ends."""
    got = tmp_path / "got"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\nprintf %s "$1" > {got}.part && mv {got}.part {got}\nexec sleep 600\n')
    browser.chmod(0o755)
    code = (
        "import os, pathlib, signal, sys, threading, time\n"
        "from unjank.view import open_browser\n"
        f"assert open_browser({URL!r})\n"
        f"while not pathlib.Path({str(got)!r}).exists(): time.sleep(0.01)\n"
        "os.killpg(0, signal.SIGTERM)\n"  # the browser too
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"BROWSER": str(browser), "PATH": "/usr/bin:/bin"},
        start_new_session=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == -15
    assert got.read_text() == URL
