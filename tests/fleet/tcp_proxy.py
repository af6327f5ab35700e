"""A TCP proxy on loopback whose connections can be cut, and made possible again."""

import selectors
import socket
import threading
from contextlib import suppress
from types import TracebackType

_CHUNK = 1 << 16


class TcpProxy:
    """Forwards connections to a port of this machine.

    Args:
        target: The port.

    Attributes:
        broken: How many connections were cut.
    """

    def __init__(self, target: int) -> None:
        self._target = target
        self.broken = 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._open = threading.Event()
        self._open.set()
        self._pairs: set[tuple[socket.socket, socket.socket]] = set()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._accept, name="proxy", daemon=True)
        self._thread.start()

    def cut(self) -> None:
        """Breaks all connections and each new one, until `restore`."""
        self._open.clear()
        with self._lock:
            pairs, self._pairs = self._pairs, set()
            self.broken += len(pairs)
        for end in (end for pair in pairs for end in pair):
            _reset(end)

    def restore(self) -> None:
        """Lets connections through again."""
        self._open.set()

    def __enter__(self) -> "TcpProxy":
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.cut()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()

    def _accept(self) -> None:
        with suppress(OSError):  # the listener was closed
            while True:
                near, _ = self._listener.accept()
                if not self._open.is_set():
                    _reset(near)
                    continue
                threading.Thread(target=self._forward, args=(near,), daemon=True).start()

    def _forward(self, near: socket.socket) -> None:
        far = socket.create_connection(("127.0.0.1", self._target))
        pair = (near, far)
        with self._lock:
            self._pairs.add(pair)
        with suppress(OSError):  # one of the ends is gone
            _pump(near, far)
        with self._lock:
            self._pairs.discard(pair)
        for end in pair:
            end.close()


def _pump(near: socket.socket, far: socket.socket) -> None:
    with selectors.DefaultSelector() as selector:
        selector.register(near, selectors.EVENT_READ, far)
        selector.register(far, selectors.EVENT_READ, near)
        while True:
            for key, _ in selector.select():
                source = key.fileobj
                assert isinstance(source, socket.socket)
                data = source.recv(_CHUNK)
                if not data:
                    return
                key.data.sendall(data)


def _reset(end: socket.socket) -> None:
    """Ends a connection; whoever waits for it wakes up."""
    with suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
