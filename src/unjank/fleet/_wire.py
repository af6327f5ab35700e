"""What a worker's process and its supervisor say to each other, over one socket.

The supervisor sends requests, JSON each. The worker answers with frames: `J` and JSON, an event; or `C` and
the `QueryResult.CellsBatch` bytes of the engine as they are. Nothing is pickled: the worker reads files of
others, and must not be able to make its supervisor run code.
"""

import json
from multiprocessing.connection import Connection
from typing import Any

SCRATCH_PREFIX = "unjank-fleet-worker-"  # of the folder that a worker's process has for temporary files
_JSON, _CELLS = b"J", b"C"
_SEPARATORS = (",", ":")

Event = dict[str, Any]


def send_event(connection: Connection, event: Event) -> None:
    """Sends a JSON event or request."""
    connection.send_bytes(_JSON + json.dumps(event, separators=_SEPARATORS).encode())


def send_cells(connection: Connection, cells: bytes) -> None:
    """Sends rows as the engine encoded them."""
    connection.send_bytes(_CELLS + cells)


def receive(connection: Connection) -> Event | bytes:
    """The next event, or the bytes of rows.

    Raises:
        EOFError: The other side is gone.
        ValueError: It sent something else.
    """
    frame = connection.recv_bytes()
    kind, body = frame[:1], frame[1:]
    if kind == _CELLS:
        return body
    event = json.loads(body) if kind == _JSON else None
    if not isinstance(event, dict):
        raise ValueError("a worker's process sent a frame that is none")
    return event
