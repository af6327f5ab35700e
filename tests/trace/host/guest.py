"""A memory as the engine has one, without an engine."""

import wasmtime

from unjank.trace.host.memory import GuestMemory, PointerLayout

_MODULES = {
    32: '(module (memory (export "memory") 1 4))',
    64: '(module (memory (export "memory") i64 1 4))',
}


def guest_memory(bits: int) -> GuestMemory:
    """One page of zeros that may grow to four."""
    store = wasmtime.Store(wasmtime.Engine())
    instance = wasmtime.Instance(store, wasmtime.Module(store.engine, _MODULES[bits]), [])
    exported = instance.exports(store)["memory"]
    assert isinstance(exported, wasmtime.Memory)
    memory = GuestMemory(store, PointerLayout(bits))
    memory.bind(exported)
    return memory
