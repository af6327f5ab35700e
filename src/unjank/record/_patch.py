"""Puts the recorded lock types where Python and its libraries look for locks, and takes them away again."""

import _queue
import _thread
import os
import sys
import threading
from collections.abc import Callable
from types import ModuleType
from typing import Any, NoReturn

from unjank import _record
from unjank.record import _waits

_LIBRARY_FILES = (
    "queue.py",
    "concurrent/futures/_base.py",
    "concurrent/futures/thread.py",
    "concurrent/futures/process.py",
)
_OWN_FILES = ("_child.py", "_patch.py", "_waits.py")
_FROZEN_IMPORT = ("<frozen importlib._bootstrap>", "<frozen importlib._bootstrap_external>")


class Patch:
    """The replaced names of one recording.

    Every module global that holds one of CPython's lock factories now gets its recorded twin: that reaches
    `from threading import Lock` in modules that were imported before. Locks made before stay as they are.
    """

    def __init__(self) -> None:
        self._undo: list[Callable[[], None]] = []

    def install(self) -> None:
        """Replaces the names; locks made from now on are recorded."""
        _declare_files()
        self._replace_globals(_twins())
        self._replace(threading.Thread, "join", _waits.join)
        self._replace(threading.Thread, "_bootstrap_inner", _named_bootstrap())
        self._replace(threading.Thread, "name", _renaming_property())
        self._replace(os, "_exit", _flushing_exit(os._exit))
        self._name_running_threads()
        _record.listen_to_loopers()
        self._undo.append(_record.leave_loopers)

    def uninstall(self) -> None:
        """Puts everything back; locks made meanwhile go on working, unrecorded."""
        while self._undo:
            self._undo.pop()()

    def _replace(self, owner: Any, name: str, twin: object) -> None:  # noqa: ANN401  a module or a class
        original = owner.__dict__[name]
        setattr(owner, name, twin)

        def undo() -> None:
            if owner.__dict__.get(name) is twin:
                setattr(owner, name, original)

        self._undo.append(undo)

    def _replace_globals(self, twins: list[tuple[object, object]]) -> None:
        by_id = {id(original): (original, twin) for original, twin in twins}
        for module in list(sys.modules.values()):
            if not isinstance(module, ModuleType) or module in (_record, _waits, sys.modules[__name__]):
                continue
            for name, value in list(vars(module).items()):
                known = by_id.get(id(value))
                if known is not None and known[0] is value:
                    self._replace(module, name, known[1])

    def _name_running_threads(self) -> None:
        for thread in threading.enumerate():
            if thread.native_id is not None:
                _record.rename_thread(thread.native_id, thread.name)


def _twins() -> list[tuple[object, object]]:
    # Before 3.13 threading.Lock is the function that makes a lock, since then it is the type.
    functions = (_thread.allocate_lock, _thread.allocate)
    return [
        *((function, _record.allocate_lock) for function in functions),
        (_thread.LockType, _record.Lock),
        (_thread.RLock, _record.RLock),
        (_queue.SimpleQueue, _waits.SimpleQueue),
    ]


def _declare_files() -> None:
    """Says whose functions are never the place of a wait, and who waits on the program's behalf."""
    # By the names in code objects, which is what a frame has. Nothing is imported for it: a module that is
    # imported before the locks are replaced keeps the originals.
    threading_file = threading.Thread.run.__code__.co_filename
    stdlib = threading_file.rpartition("/")[0]
    own_folder = Patch.install.__code__.co_filename.rpartition("/")[0]
    for name in _OWN_FILES:
        _record.set_own_file(f"{own_folder}/{name}")
    _record.set_own_file("<frozen runpy>")
    looper_folder = f"{own_folder.rpartition('/')[0]}/looper"
    for name in os.listdir(looper_folder):  # noqa: PTH208  pathlib is heavy in the program
        _record.set_own_file(f"{looper_folder}/{name}")
    _record.set_wrapper_file(threading_file)
    for path in (*(f"{stdlib}/{name}" for name in _LIBRARY_FILES), *_FROZEN_IMPORT):
        _record.set_library_file(path)


def _named_bootstrap() -> Callable[[threading.Thread], None]:
    original = threading.Thread._bootstrap_inner  # type: ignore[attr-defined]  # the only place a thread passes

    def _bootstrap_inner(self: threading.Thread) -> None:
        _record.name_thread(self._name)  # type: ignore[attr-defined]
        original(self)

    return _bootstrap_inner


def _renaming_property() -> property:
    original = threading.Thread.__dict__["name"]

    def rename(self: threading.Thread, name: str) -> None:
        original.fset(self, name)
        if self.native_id is not None:
            _record.rename_thread(self.native_id, str(name))

    return property(original.fget, rename, original.fdel, original.__doc__)


def _flushing_exit(original: Callable[[int], NoReturn]) -> Callable[[int], NoReturn]:
    def _exit(status: int) -> NoReturn:
        if isinstance(status, int):  # a wrong argument is an error, not an exit
            _record.stop("os._exit")
        original(status)

    return _exit
