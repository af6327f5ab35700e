"""The engine as a transport: perfetto's RPC client sends bytes and reads replies, as over a socket."""

from collections import deque

from unjank.trace.engine.instance import EngineInstance, Reply


class EngineTransport:
    """send / read / close over an engine in this process.

    `send` runs the engine to the end of the request, so all replies are there when `read` asks for them.
    """

    def __init__(self, instance: EngineInstance) -> None:
        self.instance = instance
        self._replies: deque[memoryview] = deque()

    def send(self, data: bytes) -> None:
        """Runs a request; what an earlier one left unread is dropped.

        Raises:
            EngineDiedError: the engine died of it.
            EngineUnavailableError: it is closed or belongs to another thread.
        """
        self._replies.clear()
        self.instance.request(data, self._keep)

    def stream(self, data: bytes, on_reply: Reply) -> None:
        """Runs a request and hands each reply over as it comes, so that none has to be kept."""
        self.instance.request(data, on_reply)

    def read(self, size: int) -> bytes:
        """Exactly `size` bytes of the replies.

        Raises:
            ConnectionError: the engine has not answered that much.
        """
        parts = []
        while size > 0:
            if not self._replies:
                raise ConnectionError("the trace engine gave no complete answer")
            head = self._replies.popleft()
            parts.append(head[:size])
            if len(head) > size:
                self._replies.appendleft(head[size:])
            size -= len(parts[-1])
        return b"".join(parts)

    def close(self) -> None:
        """Frees the engine."""
        self.instance.close()

    def _keep(self, reply: bytes) -> None:
        if reply:
            self._replies.append(memoryview(reply))
