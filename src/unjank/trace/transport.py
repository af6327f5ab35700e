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
        """Runs a request and hands each reply over as it comes, whole messages only, so that none is kept."""
        self.instance.request(data, MessageAssembler(on_reply).feed)

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


class MessageAssembler:
    """Puts the messages of a `TraceProcessorRpcStream` together again.

    The engine hands over its answer in pieces of its output buffer: a large message comes in several, and a
    piece may end in the middle of one.

    Args:
        on_messages: Receives one or more whole messages, with their tags and lengths, as the stream has them.
    """

    def __init__(self, on_messages: Reply) -> None:
        self._on_messages = on_messages
        self._pieces: list[bytes] = []
        self._have = 0
        self._needed = 0  # bytes until the first message is whole, as far as its length is known

    def feed(self, piece: bytes) -> None:
        """Takes the next piece; hands over what is whole with it."""
        self._pieces.append(piece)
        self._have += len(piece)
        if self._have < self._needed:
            return
        data = b"".join(self._pieces) if len(self._pieces) > 1 else piece
        whole, self._needed = _measure(data)
        rest = data[whole:]
        self._pieces, self._have = ([rest] if rest else []), len(rest)
        if whole:
            self._on_messages(data if whole == len(data) else data[:whole])


def _measure(data: bytes) -> tuple[int, int]:
    """Bytes of the whole messages at the start of `data`, and those that the next one needs, 0 if unknown."""
    end = 0
    while end < len(data):
        size = _message_size(data, end)
        if size is None:
            return end, 0
        if end + size > len(data):
            return end, size
        end += size
    return end, 0


def _message_size(data: bytes, start: int) -> int | None:
    """Bytes of the message at `start` with its tag and length; None if the length itself is cut off."""
    length, at = 0, start + 1  # behind the tag of field 1, which is one byte
    for shift in range(0, 64, 7):
        if at >= len(data):
            return None
        byte = data[at]
        length |= (byte & 0x7F) << shift
        at += 1
        if byte < 0x80:
            break
    return at - start + length
