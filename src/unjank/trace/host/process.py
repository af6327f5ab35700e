"""Host functions for the process: memory growth, environment, and the ways to die."""

from collections.abc import Callable
from typing import Any, NoReturn

from unjank.trace.errors import EngineDiedError
from unjank.trace.host.errno import Errno
from unjank.trace.host.memory import GuestMemory

_PAGE = 1 << 16
# Growing by a fifth keeps the number of growths logarithmic; the cap keeps the waste of a large heap small.
_OVERGROWTH_DIVISOR = 5
_OVERGROWTH_CAP = 96 << 20
# One page short of 4 GiB, since 4 GiB itself is 0 in 32 bits. 16 GiB is what the 64-bit module declares.
_HEAP_MAX = {32: (4 << 30) - _PAGE, 64: 16 << 30}


class ProcessHost:
    """Bodies of the imports about the process as a whole.

    Attributes:
        out_of_memory: whether a growth was refused; what the engine dies of after that is lack of memory.
    """

    def __init__(self, memory: GuestMemory, heap_limit: int | None = None) -> None:
        self._memory = memory
        self._heap_max = min(heap_limit or _HEAP_MAX[64], _HEAP_MAX[memory.layout.bits])
        self.out_of_memory = False

    def bodies(self) -> dict[str, Callable[..., Any]]:
        """Import name to body."""
        return {
            "emscripten_get_heap_max": self._get_heap_max,
            "emscripten_resize_heap": self._resize_heap,
            "environ_sizes_get": self._environ_sizes_get,
            "environ_get": lambda *_: Errno.SUCCESS,
            "__assert_fail": self._assert_fail,
            "_abort_js": self._abort,
        }

    @property
    def heap_max(self) -> int:
        """Bytes the engine's memory may grow to."""
        return self._heap_max

    def _get_heap_max(self) -> int:
        wide = self._memory.layout.bits == 64
        # The binding takes i32 as signed.
        return self._heap_max if wide or self._heap_max < 1 << 31 else self._heap_max - (1 << 32)

    def _resize_heap(self, wanted: int) -> int:
        wanted &= self._memory.layout.mask
        size = self._memory.size
        if wanted > self._heap_max:
            self.out_of_memory = True
            return 0
        generous = min(size + min(size // _OVERGROWTH_DIVISOR, _OVERGROWTH_CAP), self._heap_max)
        grown = self._memory.grow_to(max(wanted, generous)) or self._memory.grow_to(wanted)
        self.out_of_memory = not grown
        return int(grown)

    def _environ_sizes_get(self, count: int, size: int) -> int:
        # The user's environment is none of the engine's business.
        self._memory.pack(count, self._memory.layout.word, 0)
        self._memory.pack(size, self._memory.layout.word, 0)
        return Errno.SUCCESS

    def _assert_fail(self, condition: int, file: int, line: int, function: int) -> NoReturn:
        text = self._memory.text
        raise EngineDiedError(
            f"assertion failed in the engine: {text(condition)} ({text(file)}:{line}, {text(function)})"
        )

    def _abort(self) -> NoReturn:
        raise EngineDiedError("the engine aborted")  # what it logged before tells why, if anything does
