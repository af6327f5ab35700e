"""Facts about the machine and the interpreter, stored with every result."""

from typing import Any

from unjank.bench import machine_facts

_PACKAGES = ("unjank", "perfetto", "wasmtime", "viztracer", "protobuf", "culsans")


def facts() -> dict[str, Any]:
    """CPU, memory, kernel, load, Python and the packages that matter here."""
    return machine_facts(_PACKAGES)
