"""What knobs were before they were turned: on disk before the first is, so that a crash can be undone.

One boost at a time per user: its lock file is held as long as its process lives. Whoever gets the lock and
finds a journal has found that of a process that died.
"""

import contextlib
import fcntl
import json
import os
import pwd
import re
import stat
import weakref
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from unjank._errors import CpuError
from unjank.cpu.kernel_tree import KernelTree

SCHEMA = "unjank.boost-journal/1"
_VALUE = re.compile(r"[A-Za-z0-9_. -]{1,64}")


@dataclass(frozen=True)
class Entry:
    """A knob by name, and the value it had."""

    knob: str
    value: str


class Journal:
    """The journal in a state folder; holds the folder's lock from `open` to `close`."""

    def __init__(self, folder: Path, tree: KernelTree) -> None:
        self._folder = folder
        self._path = folder / "boost.json"
        self._boot = tree.text("proc/sys/kernel/random/boot_id") or ""
        self._root = str(tree.root)
        self._lock: int | None = None
        self._entries: list[Entry] = []

    def open(self) -> None:
        """Takes the lock and makes the folder, for this user alone.

        Raises:
            CpuError: Another boost is active, or the folder cannot be used.
        """
        _make_private(self._folder)
        fd = _open_lock(self._folder / "boost.lock")
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            owner = os.read(fd, 20).decode(errors="replace").strip() or "unknown"
            os.close(fd)
            raise CpuError(
                f"another boost, of process {owner}, is active; stop it first: kill -INT {owner}"
            ) from error
        os.ftruncate(fd, 0)
        os.write(fd, f"{os.getpid()}\n".encode())
        self._lock = fd
        _close_in_child(self)

    def close(self) -> None:
        """Lets the lock go; the journal stays if it has entries."""
        fd, self._lock = self._lock, None
        if fd is not None:
            os.close(fd)

    def left(self) -> list[Entry]:
        """What a process that died has left, oldest first; nothing after the machine was started again.

        Raises:
            CpuError: The journal is damaged.
        """
        try:
            content = json.loads(self._path.read_text(encoding="ascii"))
        except FileNotFoundError:
            return []
        except (OSError, ValueError) as error:
            raise self._damaged() from error
        try:
            if (content["boot"], content["root"]) != (self._boot, self._root):
                self._path.unlink(missing_ok=True)  # the knobs have the values they start with
                return []
            return [_checked_entry(item) for item in content["entries"]]
        except (KeyError, TypeError, ValueError) as error:
            raise self._damaged() from error

    @property
    def entries(self) -> tuple[Entry, ...]:
        """What was recorded here, oldest first."""
        return tuple(self._entries)

    def record(self, entry: Entry) -> None:
        """Adds an entry; it is on disk when this returns."""
        self.replace([*self._entries, entry])

    def replace(self, entries: Iterable[Entry]) -> None:
        """Sets what the journal holds; without entries it goes.

        Raises:
            CpuError: It cannot be written.
        """
        self._entries = list(entries)
        try:
            if self._entries:
                self._write()
            else:
                self._path.unlink(missing_ok=True)
        except OSError as error:
            raise CpuError(f"the journal {self._path} cannot be written: {error.strerror}") from error

    def _write(self) -> None:
        items = [{"knob": entry.knob, "value": entry.value} for entry in self._entries]
        content = {"schema": SCHEMA, "boot": self._boot, "root": self._root, "entries": items}
        temporary = self._path.with_suffix(".new")
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(fd, "w", encoding="ascii") as stream:
            json.dump(content, stream)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(self._path)

    def _damaged(self) -> CpuError:
        return CpuError(
            f"the journal {self._path} is damaged; set the knobs by hand as they should be, then remove it"
        )


def state_folder() -> Path:
    """`$XDG_STATE_HOME/unjank`, else `~/.local/state/unjank` of the user in effect, whatever HOME says.

    Raises:
        CpuError: Neither is known.
    """
    configured = os.environ.get("XDG_STATE_HOME", "")
    if configured.startswith("/"):  # the specification has others ignored
        return Path(configured) / "unjank"
    try:
        home = pwd.getpwuid(os.geteuid()).pw_dir
    except KeyError as error:  # as in containers that run with any number
        raise CpuError(
            f"user {os.geteuid()} has no home folder for the journal; name a folder in XDG_STATE_HOME"
        ) from error
    return Path(home) / ".local/state/unjank"


def _open_lock(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise CpuError(
            f"the lock {path} cannot be opened: {error.strerror}; remove it, or name another folder in "
            "XDG_STATE_HOME"
        ) from error


def _checked_entry(item: object) -> Entry:
    if not isinstance(item, dict):
        raise TypeError
    entry = Entry(item["knob"], item["value"])
    if not isinstance(entry.knob, str) or not _VALUE.fullmatch(entry.value):
        raise ValueError
    return entry


def _make_private(folder: Path) -> None:
    """Values from here are written into the kernel's files: nobody else may put them here."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat(follow_symlinks=False)
    except OSError as error:
        raise CpuError(
            f"the state folder {folder} cannot be made: {error.strerror}; name another in XDG_STATE_HOME"
        ) from error
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        raise CpuError(f"the state folder {folder} is not this user's own; name another in XDG_STATE_HOME")
    if stat.S_IMODE(status.st_mode) & 0o077:
        folder.chmod(0o700)


def _close_in_child(journal: Journal) -> None:
    # A forked child shares the lock, and would keep it after its parent was killed.
    reference = weakref.ref(journal)

    def close() -> None:
        if (inherited := reference()) is not None:
            with contextlib.suppress(OSError):
                inherited.close()

    os.register_at_fork(after_in_child=close)
