"""A live program to be placed: two threads that hand a token to and fro, each bound to a CPU of its own."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from unjank.record.sched import probe

APART = """
import os, threading
there, back = os.pipe(), os.pipe()
first, *_, last = sorted(os.sched_getaffinity(0))
def pong():
    os.sched_setaffinity(0, {last})
    while data := os.read(there[0], 1): os.write(back[1], data)
os.sched_setaffinity(0, {first})
threading.Thread(target=pong, daemon=True).start()
print("ready", flush=True)
while True:
    os.write(there[1], b"x"); os.read(back[0], 1)
"""


@contextmanager
def running_apart() -> Iterator[int]:
    """Runs it while the block runs and gives its id; skips where it can't be recorded."""
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("needs two CPUs")
    level = probe().ftrace
    if not level.works:
        pytest.skip(f"ftrace does not work here: {level.reason}")
    process = subprocess.Popen([sys.executable, "-c", APART], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        process.stdout.readline()
        yield process.pid
    finally:
        process.kill()
        process.communicate()
