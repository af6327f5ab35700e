"""The public names of unjank.fleet."""

import subprocess
import sys

import unjank.fleet


def test_public_names_are_there() -> None:
    """Each name that is promised can be had, and no other."""
    assert all(getattr(unjank.fleet, name) is not None for name in unjank.fleet.__all__)
    assert set(unjank.fleet.__all__) == set(unjank.fleet._MODULES)


def test_workers_import_little() -> None:
    """A worker's process has the engine and the findings, but no Parquet, Dask, DuckDB or progress bar."""
    heavy = ("pyarrow", "distributed", "duckdb", "rich", "typer", "unjank.fleet._run")
    code = f"import sys, unjank.fleet._engine_host; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
