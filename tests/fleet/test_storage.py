"""The folder of a result, here and where fsspec reaches."""

import io
from pathlib import Path

import pytest

from unjank.fleet._storage import Storage, open_storage

pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed (no wheel for this Python)")
parquet = pytest.importorskip("pyarrow.parquet")


@pytest.fixture(params=["local", "remote"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Storage:
    """An empty folder."""
    if request.param == "local":
        return open_storage(tmp_path)
    pytest.importorskip("fsspec", reason="fsspec is not installed")
    return open_storage(f"memory://{tmp_path.name}")


def _write(storage: Storage, columns: int) -> None:
    file = io.BytesIO()
    parquet.write_table(pyarrow.table({f"column {i}": [i] for i in range(columns)}), file)
    with storage.replace("t.parquet") as target:
        target.write(file.getvalue())


@pytest.mark.parametrize("columns", [1, 2_000])
def test_footers_short_and_long(storage: Storage, columns: int) -> None:
    """A footer is read whole, also one that is longer than what is fetched at first."""
    _write(storage, columns)
    with storage.arrow_footer("t.parquet") as file:
        assert len(parquet.read_schema(file)) == columns
    with storage.arrow_file("t.parquet") as file:
        assert parquet.ParquetFile(file).read().num_rows == 1


def test_arrow_gets_no_python_object(storage: Storage) -> None:
    """Arrow's threads hold files of its own only: with a Python object they abort a process that ends."""
    _write(storage, 1)
    for opened in (storage.arrow_file("t.parquet"), storage.arrow_footer("t.parquet")):
        with opened as file:
            assert isinstance(file, pyarrow.OSFile | pyarrow.BufferReader)


def test_a_file_that_is_no_parquet_is_said_to_be_none(storage: Storage) -> None:
    """Whatever its length."""
    for content in (b"", b"PAR1", b"not a table at all"):
        with storage.replace("t.parquet") as file:
            file.write(content)
        with storage.arrow_footer("t.parquet") as opened, pytest.raises(pyarrow.ArrowInvalid):
            parquet.read_schema(opened)
