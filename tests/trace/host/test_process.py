"""Memory growth, environment and death of the engine."""

import pytest
from tests.trace.host.guest import guest_memory

from unjank.trace.errors import EngineDiedError
from unjank.trace.host.memory import GuestMemory
from unjank.trace.host.process import ProcessHost

_PAGE = 65536


def test_heap_grows_when_asked(memory: GuestMemory) -> None:
    """A request is met, at least to the byte."""
    assert ProcessHost(memory).bodies()["emscripten_resize_heap"](_PAGE + 1) == 1
    assert memory.size == 2 * _PAGE


def test_heap_limit_is_lack_of_memory(memory: GuestMemory) -> None:
    """Beyond the limit the answer is no, and it is remembered that memory ran out."""
    host = ProcessHost(memory, heap_limit=2 * _PAGE)
    assert host.bodies()["emscripten_resize_heap"](2 * _PAGE + 1) == 0
    assert host.out_of_memory
    assert memory.size == _PAGE


def test_module_limit_is_lack_of_memory(memory: GuestMemory) -> None:
    """Where the module itself can't grow, memory ran out too; a smaller request that is met takes it back."""
    host = ProcessHost(memory)
    assert host.bodies()["emscripten_resize_heap"](5 * _PAGE) == 0
    assert host.out_of_memory
    assert host.bodies()["emscripten_resize_heap"](2 * _PAGE) == 1
    assert not host.out_of_memory


def test_heap_max_as_each_module_takes_it() -> None:
    """4 GiB less a page does not fit a signed i32, so 32 bits get it as a negative number."""
    assert ProcessHost(guest_memory(32)).bodies()["emscripten_get_heap_max"]() == -_PAGE
    assert ProcessHost(guest_memory(64)).bodies()["emscripten_get_heap_max"]() == 16 << 30
    assert ProcessHost(guest_memory(32), 1 << 20).bodies()["emscripten_get_heap_max"]() == 1 << 20


def test_environment_is_empty(memory: GuestMemory) -> None:
    """The engine sees no variable of the user's."""
    memory.write(64, b"\xff" * 16)
    bodies = ProcessHost(memory).bodies()
    assert bodies["environ_sizes_get"](64, 72) == 0
    assert memory.unpack(64, memory.layout.word) == memory.unpack(72, memory.layout.word) == (0,)
    assert bodies["environ_get"](64, 72) == 0


def test_assertion_names_its_place(memory: GuestMemory) -> None:
    """A failed assertion tells condition, file, line and function."""
    for address, text in ((600, b"n > 0\0"), (700, b"heap.cc\0"), (800, b"pop\0")):
        memory.write(address, text)
    with pytest.raises(EngineDiedError, match=r"n > 0 \(heap\.cc:12, pop\)"):
        ProcessHost(memory).bodies()["__assert_fail"](600, 700, 12, 800)


def test_abort_is_death(memory: GuestMemory) -> None:
    """abort() ends the engine."""
    with pytest.raises(EngineDiedError, match="aborted"):
        ProcessHost(memory).bodies()["_abort_js"]()
