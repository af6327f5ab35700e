"""Packages of the extra `unjank[fleet]`: imported on first use, with one error that says what to install."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from unjank._errors import UnjankError

_INSTALL = "pip install 'unjank[fleet]'"


def _require(module: str, purpose: str, install: str = _INSTALL) -> Any:  # noqa: ANN401  a module
    try:
        return import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        raise UnjankError(f"{purpose} needs {package}, which is not installed: {install}") from None


def require_fleet_extra() -> None:
    """Makes sure that pyarrow is there, without taking the time to import it.

    Raises:
        UnjankError: It is not.
    """
    if find_spec("pyarrow") is None:
        require_pyarrow()


def require_pyarrow() -> Any:  # noqa: ANN401  see _require
    """The module pyarrow."""
    return _require("pyarrow", "a fleet's result")


def require_compute() -> Any:  # noqa: ANN401  see _require
    """The module pyarrow.compute."""
    return _require("pyarrow.compute", "a fleet's result")


def require_parquet() -> Any:  # noqa: ANN401  see _require
    """The module pyarrow.parquet."""
    return _require("pyarrow.parquet", "a fleet's result")


def require_dataset() -> Any:  # noqa: ANN401  see _require
    """The module pyarrow.dataset."""
    return _require("pyarrow.dataset", "a fleet's result")


def require_fsspec() -> Any:  # noqa: ANN401  see _require
    """The module fsspec."""
    return _require("fsspec", "a URL")


def require_duckdb() -> Any:  # noqa: ANN401  see _require
    """The module duckdb."""
    return _require("duckdb", "--aggregate")


def require_distributed() -> Any:  # noqa: ANN401  see _require
    """The module distributed, Dask's scheduler and workers."""
    return _require("distributed", "--dask")


def require_pandas() -> Any:  # noqa: ANN401  see _require
    """The module pandas."""
    return _require("pandas", "a result as pandas", "pip install pandas")


def require_polars() -> Any:  # noqa: ANN401  see _require
    """The module polars."""
    return _require("polars", "a result as polars", "pip install polars")
