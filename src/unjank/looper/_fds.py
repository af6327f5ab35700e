"""File descriptors that a looper listens to."""

import itertools
import threading
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntFlag
from typing import TYPE_CHECKING

from unjank._errors import LooperError

if TYPE_CHECKING:
    from unjank.looper._looper_class import Looper


class FdEvent(IntFlag):
    """What a descriptor is ready for. ERROR and HANG_UP are reported without being asked for."""

    INPUT = 1
    OUTPUT = 2
    ERROR = 4
    HANG_UP = 8


FdListener = Callable[[int, FdEvent], FdEvent | None]


@dataclass(frozen=True, slots=True)
class _Entry:
    fd: int
    events: FdEvent
    listener: FdListener


class FdListeners:
    """The listeners of one looper, by the number under which its poller reports them.

    A number is used once: an event that was on its way when its listener was removed finds nobody.
    """

    def __init__(self, looper: "Looper") -> None:
        # Bound methods would make the looper a cycle with itself anyway; it is one through its observers too.
        self._poller = looper
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._entries: dict[int, _Entry] = {}
        self._number_of: dict[int, int] = {}

    def add(self, fd: int, events: FdEvent, listener: FdListener) -> None:
        """See Looper.add_fd_listener()."""
        _check(fd, events, listener)
        with self._lock:
            if fd in self._number_of:
                self._forget(fd)
            number = next(self._numbers)
            self._poller._listen(fd, int(events), number)
            self._entries[number] = _Entry(fd, events, listener)
            self._number_of[fd] = number

    def remove(self, fd: int) -> bool:
        """See Looper.remove_fd_listener()."""
        with self._lock:
            found = fd in self._number_of
            if found:
                self._forget(fd)
        return found

    def listener(self, number: int) -> FdListener | None:
        """The listener of this number, if it is still there."""
        entry = self._entries.get(number)
        return entry.listener if entry else None

    def dispatch(self, number: int, readiness: int) -> None:
        """Calls the listener and does what it answers. Looper's thread."""
        entry = self._entries.get(number)
        if entry is None:
            return
        wanted = entry.listener(entry.fd, FdEvent(readiness))
        if wanted is not None:
            self._listen_on(number, entry, FdEvent(wanted))

    def _listen_on(self, number: int, entry: _Entry, events: FdEvent) -> None:
        with self._lock:
            if self._number_of.get(entry.fd) != number or events == entry.events:
                return  # the listener has removed or replaced itself
            if not events:
                self._forget(entry.fd)
                return
            self._poller._change(entry.fd, int(events), number)
            self._entries[number] = _Entry(entry.fd, events, entry.listener)

    def _forget(self, fd: int) -> None:
        del self._entries[self._number_of.pop(fd)]
        try:
            self._poller._forget(fd)
        except LooperError:
            # Closing a descriptor takes it out of the poller; there is nothing left to undo.
            return


def _check(fd: int, events: FdEvent, listener: FdListener) -> None:
    if not isinstance(fd, int):
        raise TypeError(f"a descriptor is an int, not {type(fd).__name__}; for a socket pass sock.fileno()")
    if fd < 0:
        raise LooperError(f"descriptor {fd} is closed; add the listener before closing it")
    if not FdEvent(events) & (FdEvent.INPUT | FdEvent.OUTPUT):
        raise ValueError("name what to listen for: FdEvent.INPUT, FdEvent.OUTPUT or both")
    if not callable(listener):
        raise TypeError(f"the listener must be callable, not {type(listener).__name__}")
