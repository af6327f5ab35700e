"""A Dask cluster of real processes on loopback; workers that end are started again, as in Kubernetes."""

import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from types import TracebackType

from tests.fleet.tcp_proxy import TcpProxy

_DASK = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
_WORKER = [sys.executable, "-m", "distributed.cli.dask_worker"]
_LISTENS = re.compile(rb"Scheduler at:\s+tcp://127\.0\.0\.1:(\d+)")


class DaskCluster:
    """A scheduler, and workers that reach it through a proxy."""

    def __init__(self, folder: Path, workers: int) -> None:
        self._scheduler = subprocess.Popen(
            [*_DASK, "--host", "127.0.0.1", "--port", "0", "--no-dashboard"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            cwd=folder,
        )
        self.proxy = TcpProxy(self._port())
        self.address = f"tcp://127.0.0.1:{self.proxy.port}"
        self._keepers = [_Keeper(self.address, folder / f"worker{n}") for n in range(workers)]

    def kill_a_worker(self) -> None:
        """Ends a worker without a chance to say goodbye; another takes its place."""
        self._keepers[0].kill()

    def cut(self, seconds: float) -> threading.Timer:
        """Cuts the scheduler off from everybody for some seconds."""
        self.proxy.cut()
        timer = threading.Timer(seconds, self.proxy.restore)
        timer.start()
        return timer

    def __enter__(self) -> "DaskCluster":
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        for keeper in self._keepers:
            keeper.end()
        self.proxy.__exit__(None, None, None)
        self._scheduler.kill()
        self._scheduler.wait()

    def _port(self) -> int:
        assert self._scheduler.stderr is not None
        said = b""
        for line in self._scheduler.stderr:
            said += line
            if match := _LISTENS.search(line):
                # From here on somebody has to read what it logs, or it would stop when the pipe is full.
                threading.Thread(target=self._scheduler.stderr.read, daemon=True).start()
                return int(match[1])
        raise AssertionError(f"the scheduler did not start: {said.decode()}")


class _Keeper:
    """Keeps one worker process running."""

    def __init__(self, address: str, folder: Path) -> None:
        self._command = [*_WORKER, address, "--host", "127.0.0.1", "--nthreads", "1", "--no-nanny"]
        self._command += ["--no-dashboard", "--local-directory", os.fspath(folder)]
        self._ended = False
        self._lock = threading.Lock()
        self._process = self._start()
        self._thread = threading.Thread(target=self._keep, name="keeper", daemon=True)
        self._thread.start()

    def kill(self) -> None:
        with self._lock:
            self._process.send_signal(signal.SIGKILL)

    def end(self) -> None:
        with self._lock:
            self._ended = True
            self._process.kill()
        self._thread.join()

    def _keep(self) -> None:
        while True:
            self._process.wait()
            with self._lock:
                if self._ended:
                    return
                self._process = self._start()

    def _start(self) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(self._command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
