"""The engine's linear memory as the host functions see it, with 32- or 64-bit pointers."""

import ctypes
import struct
from dataclasses import dataclass

import wasmtime


@dataclass(frozen=True)
class PointerLayout:
    """How a module lays out pointers, `size_t` and `long`: 4 bytes (wasm32) or 8 (memory64)."""

    bits: int

    @property
    def mask(self) -> int:
        """Turns the signed integer that the binding hands over into an address."""
        return (1 << self.bits) - 1

    @property
    def size(self) -> int:
        """Bytes of a pointer."""
        return self.bits // 8

    @property
    def word(self) -> str:
        """The `struct` code of a pointer."""
        return "I" if self.bits == 32 else "Q"

    @property
    def long(self) -> str:
        """The `struct` code of a C `long`, which is as wide as a pointer in both modules."""
        return "i" if self.bits == 32 else "q"


class GuestMemory:
    """Reads and writes the engine's memory; addresses are as the engine passed them.

    The memory is bound after instantiation, since imports have to exist before the instance does.
    """

    def __init__(self, store: wasmtime.Store, layout: PointerLayout) -> None:
        self._store = store
        self._memory: wasmtime.Memory | None = None
        self.layout = layout

    def bind(self, memory: wasmtime.Memory) -> None:
        """Tells which exported memory this is."""
        self._memory = memory

    @property
    def _bound(self) -> wasmtime.Memory:
        if self._memory is None:
            raise RuntimeError("the engine called its host before it had a memory")
        return self._memory

    def read(self, address: int, size: int) -> bytes:
        """Copies `size` bytes out; raises IndexError outside the memory."""
        return ctypes.string_at(self._host_address(address, size), size)

    def write(self, address: int, data: bytes) -> None:
        """Copies bytes in; raises IndexError outside the memory."""
        ctypes.memmove(self._host_address(address, len(data)), data, len(data))

    def _host_address(self, address: int, size: int) -> int:
        """Where the bytes are in this process; the binding's own accessors would copy them twice."""
        start = address & self.layout.mask
        if start + size > self.size:
            raise IndexError(f"the engine passed a buffer outside its memory: {start:#x}, {size} bytes")
        return ctypes.addressof(self._bound.data_ptr(self._store).contents) + start

    def pack(self, address: int, form: str, *values: int) -> None:
        """Writes little-endian values of a `struct` format."""
        self.write(address, struct.pack("<" + form, *values))

    def unpack(self, address: int, form: str) -> tuple[int, ...]:
        """Reads little-endian values of a `struct` format."""
        return struct.unpack("<" + form, self.read(address, struct.calcsize("<" + form)))

    def text(self, address: int, limit: int = 4096) -> str:
        """Reads a C string of at most `limit` bytes; a null pointer reads as empty."""
        start = address & self.layout.mask
        if start == 0:
            return ""
        return (
            self.read(start, max(min(limit, self.size - start), 0))
            .split(b"\0", 1)[0]
            .decode("utf-8", "replace")
        )

    @property
    def size(self) -> int:
        """Bytes the memory has now."""
        return int(self._bound.data_len(self._store))

    def grow_to(self, size: int) -> bool:
        """Grows the memory to at least `size` bytes; False where the module or the machine has no more."""
        page = 1 << 16
        pages = -(-size // page) - self.size // page
        if pages <= 0:
            return True
        try:
            self._bound.grow(self._store, pages)
        except wasmtime.WasmtimeError:
            return False
        return True
