"""Changes to threads that are read back, and put back as they were."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Generic, Protocol, Self, TypeVar

from unjank._errors import CpuError
from unjank.cpu.errors import ThreadGoneError
from unjank.cpu.kernel_tree import KernelTree
from unjank.cpu.threads import Thread, ThreadRef, find_thread, is_same, new_threads

T = TypeVar("T")

Target = Thread | ThreadRef | Iterable[Thread | ThreadRef] | None
"""One thread, several, or None: the caller."""

_ROUNDS = 8  # of looking for threads that started meanwhile; few do, since they inherit the setting


class Setting(Protocol[T]):
    """One property of a thread that can be read and written."""

    def read(self, tid: int) -> T:
        """What is set; raises OSError as the kernel answers."""

    def write(self, tid: int, value: T) -> None:
        """Sets it; raises OSError as the kernel answers."""

    def show(self, value: T) -> str:
        """A value in words."""

    def explain(self, error: OSError, thread: ThreadRef, wanted: T | None) -> CpuError:
        """Which rule forbade it, and the way out; None for `wanted` where reading failed."""

    def explain_difference(self, thread: ThreadRef, wanted: T, found: T) -> CpuError:
        """Why the kernel took it, but set something else."""


@dataclass(frozen=True)
class Change(Generic[T]):
    """One thread's change; `after` is what was read back."""

    thread: ThreadRef
    before: T
    after: T


class Applied(Generic[T]):
    """Changes that are in force. Leave them, call `restore()`, or use this in a `with` statement.

    Attributes:
        changes: One per thread, in the order in which they were made.
    """

    def __init__(self, setting: Setting[T], changes: Iterable[Change[T]], tree: KernelTree) -> None:
        self.changes = tuple(changes)
        self._setting = setting
        self._tree = tree
        self._restored = False

    def restore(self) -> None:
        """Puts back what each thread had, last change first; threads that have ended are left out.

        Raises:
            CpuError: The kernel refused for a thread; the others are put back all the same.
        """
        if self._restored:
            return
        self._restored = True
        failures = []
        for change in reversed(self.changes):
            try:
                self._put_back(change)
            except CpuError as error:
                failures.append(error)
        if failures:
            raise failures[0]

    def _put_back(self, change: Change[T]) -> None:
        if not is_same(change.thread, self._tree):
            return
        try:
            self._setting.write(change.thread.tid, change.before)
        except ProcessLookupError:
            return
        except OSError as error:
            raise self._setting.explain(error, change.thread, change.before) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.restore()


def apply(
    setting: Setting[T],
    target: Target,
    wanted: Callable[[T, ThreadRef], T],
    tree: KernelTree,
    follow: Iterable[int] = (),
) -> Applied[T]:
    """Changes threads, all or none, and reads each change back.

    Args:
        setting: What to change.
        target: Whose.
        wanted: The new value, from the old one and the thread.
        tree: The kernel's files.
        follow: Processes whose threads that start meanwhile are changed too.

    Raises:
        ThreadGoneError: There is no such thread. Of several, those that have just ended are left out.
        CpuError: The kernel refused; what had been changed is put back. Or a name was given for a thread.
    """
    threads = list(_refs(target, tree))
    changes: list[Change[T]] = []
    try:
        for _ in range(_ROUNDS):
            changes += _change_each(setting, threads, wanted, skip_gone=len(threads) + len(changes) > 1)
            threads = list(new_threads(follow, {change.thread.tid for change in changes}, tree))
            if not threads:
                break
    except BaseException:
        Applied(setting, changes, tree).restore()
        raise
    if not changes:
        raise ThreadGoneError("all these threads have ended")
    return Applied(setting, changes, tree)


def _change_each(
    setting: Setting[T], threads: Iterable[ThreadRef], wanted: Callable[[T, ThreadRef], T], *, skip_gone: bool
) -> Iterator[Change[T]]:
    for thread in threads:
        try:
            yield _change(setting, thread, wanted)
        except ThreadGoneError:
            if not skip_gone:
                raise


def _change(setting: Setting[T], thread: ThreadRef, wanted: Callable[[T, ThreadRef], T]) -> Change[T]:
    value: T | None = None
    try:
        before = setting.read(thread.tid)
        value = wanted(before, thread)
        setting.write(thread.tid, value)
        after = setting.read(thread.tid)
    except ProcessLookupError as error:
        raise ThreadGoneError(f"{thread} has ended") from error
    except OSError as error:
        if value is not None:  # a policy may have been taken before a nice value was refused
            with suppress(OSError):
                setting.write(thread.tid, before)
        raise setting.explain(error, thread, value) from error
    if after != value:
        setting.write(thread.tid, before)
        raise setting.explain_difference(thread, value, after)
    return Change(thread, before, after)


def _refs(target: Target, tree: KernelTree) -> Iterator[ThreadRef]:
    if isinstance(target, ThreadRef):
        yield target
    elif isinstance(target, str | bytes):
        raise CpuError(
            f"{target!r} is no thread; give a native id, a Python thread, or select_threads(name=…)"
        )
    elif isinstance(target, Iterable):
        for one in target:
            yield from _refs(one, tree)
    else:
        yield find_thread(target, tree)
