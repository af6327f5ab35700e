"""The public names: adding one is a decision, losing one breaks users."""

import subprocess
import sys
import types

import unjank

PUBLIC = {
    "CpuError",
    "EngineError",
    "Handler",
    "HandlerThread",
    "Looper",
    "LooperError",
    "Message",
    "QueryError",
    "RecordError",
    "SchedulingUnavailableError",
    "TraceError",
    "TraceProcessor",
    "UnjankError",
    "__version__",
    "record",
}


def test_public_names() -> None:
    """`unjank.__all__` is exactly the documented names, and each of them is there."""
    assert set(unjank.__all__) == PUBLIC
    assert all(getattr(unjank, name) is not None for name in PUBLIC)


def test_record_is_the_function_and_not_the_package() -> None:
    """`unjank.record(...)` can be called, also after its package was imported in every way."""
    from unjank.record import Recording

    assert isinstance(unjank.record, types.FunctionType)
    assert sys.modules["unjank.record"].record is unjank.record
    assert Recording.__module__.startswith("unjank.record")


def test_every_error_is_an_unjank_error() -> None:
    """One except clause catches all that unjank raises on purpose."""
    errors = [getattr(unjank, name) for name in PUBLIC if name.endswith("Error")]
    assert all(issubclass(error, unjank.UnjankError) for error in errors)


def test_importing_unjank_loads_nothing_heavy() -> None:
    """The engine, rich and typer are loaded when they are used, not by `import unjank`."""
    heavy = ("wasmtime", "perfetto", "rich", "typer")
    code = f"import sys, unjank; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
