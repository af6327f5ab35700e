"""A trace_processor_shell for one trace, started and found ready within milliseconds.

perfetto's own start looks once a second whether the shell is there, which is longer than most traces take.
"""

import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager

from unjank._errors import EngineError

_START_SECONDS = 30.0
_LOOK_SECONDS = 0.005
_HOST = "localhost"  # what the shell binds to


@contextmanager
def shell_server(shell: str) -> Iterator[str]:
    """Starts a shell and gives its address, `HOST:PORT`; ends it with the block.

    Args:
        shell: Path of the program.

    Raises:
        EngineError: It does not start; the message has its last line.
    """
    port = _free_port()
    with tempfile.TemporaryFile() as said:
        command = [shell, "-D", "--http-port", str(port), "--no-ftrace-raw"]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT)
        try:
            if not _is_ready(process, port):
                said.seek(0)
                last = said.read().decode("utf-8", "replace").strip().rpartition("\n")[2]
                raise EngineError(f"{shell} failed to start: {last or 'it said nothing'}")
            yield f"{_HOST}:{port}"
        finally:
            process.kill()
            process.wait()


def _is_ready(process: "subprocess.Popen[bytes]", port: int) -> bool:
    deadline = time.monotonic() + _START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        try:
            socket.create_connection((_HOST, port), timeout=1).close()
        except OSError:
            time.sleep(_LOOK_SECONDS)
        else:
            return True
    return False


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])
