"""Runs programs for the fleet's benchmark, and watches what they and their children take."""

import resource
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

_SAMPLE_SECONDS = 0.2
_UNJANK = (sys.executable, "-c", "from unjank.cli import main; main()")


@dataclass(frozen=True)
class Run:
    """One run of a program.

    Attributes:
        seconds: Wall time, its start included.
        cpu_seconds: CPU time of it and its children.
        memory: Samples of its and its children's memory, bytes; shared pages count once. Empty if it was
            not watched: watching costs time.
        stderr: What it said.
    """

    seconds: float
    cpu_seconds: float
    memory: tuple[int, ...]
    stderr: str


def run_unjank(*arguments: str | Path, watch: bool = False) -> Run:
    """Runs the command line; raises CalledProcessError if it fails."""
    return run_program([*_UNJANK, *map(str, arguments)], watch=watch)


def run_program(command: list[str], *, watch: bool = False) -> Run:
    """Runs a program; raises CalledProcessError if it fails."""
    samples: list[int] = []
    begin, cpu = time.perf_counter(), _cpu_of_children()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        ended = threading.Event()
        watcher = threading.Thread(target=_watch, args=(child.pid, samples, ended))
        if watch:
            watcher.start()
        _, stderr = child.communicate()
        seconds = time.perf_counter() - begin
        ended.set()
        if watch:
            watcher.join()
    if child.returncode:
        raise subprocess.CalledProcessError(child.returncode, command, None, stderr)
    return Run(seconds, _cpu_of_children() - cpu, tuple(samples), stderr)


def _cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _watch(pid: int, samples: list[int], ended: threading.Event) -> None:
    while not ended.wait(_SAMPLE_SECONDS):
        try:
            root = psutil.Process(pid)
            samples.append(sum(map(_proportional_bytes, [root, *root.children(recursive=True)])))
        except psutil.NoSuchProcess:
            return


def _proportional_bytes(process: psutil.Process) -> int:
    try:
        return int(process.memory_full_info().pss)
    except (psutil.NoSuchProcess, psutil.ZombieProcess):
        return 0
