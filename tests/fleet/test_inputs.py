"""Which traces a list, glob, folder, file of names or URL means."""

import io
from pathlib import Path

import pytest

from unjank import UnjankError
from unjank.fleet import Trace, find_traces


def _touch(folder: Path, *names: str) -> list[str]:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"x")
    return [str(folder / name) for name in names]


def _names(source: object) -> list[str]:
    return [trace.name for trace in find_traces(source)]  # type: ignore[arg-type]


def test_paths_in_their_order_each_once(tmp_path: Path) -> None:
    """A list keeps its order; a trace named twice counts once."""
    first, second = _touch(tmp_path, "b", "a")
    assert _names([first, Path(second), first]) == [first, second]


def test_folder_with_all_below(tmp_path: Path) -> None:
    """Of a folder every file counts, sorted, hidden files and folders left out."""
    wanted = _touch(tmp_path, "a", "deep/er/c", "deep/b")
    _touch(tmp_path, ".hidden", ".git/x")
    assert _names(tmp_path) == sorted(wanted, key=lambda name: (name.count("/"), name))


def test_glob(tmp_path: Path) -> None:
    """A glob names files only, `**` goes into folders."""
    top, below = _touch(tmp_path, "a.pftrace", "x.pftrace/b.pftrace")
    assert _names(f"{tmp_path}/*.pftrace") == [top]
    assert _names(f"{tmp_path}/**/*.pftrace") == [top, below]


def test_file_whose_name_looks_like_a_glob(tmp_path: Path) -> None:
    """A file that is there is meant as it is written."""
    (name,) = _touch(tmp_path, "a[1].pftrace")
    assert _names(name) == [name]


def test_missing_file_is_left_to_its_own_error(tmp_path: Path) -> None:
    """A plain name that is not there stays in the list: it is one trace's error, not everybody's."""
    assert _names(str(tmp_path / "none")) == [str(tmp_path / "none")]


def test_file_of_names(tmp_path: Path) -> None:
    """`@FILE` has a name, folder or glob on each line; comments and empty lines don't count."""
    first, second = _touch(tmp_path / "traces", "a", "b")
    (tmp_path / "names").write_text(f"# mine\n\n{second}\n{tmp_path}/traces\n")
    assert _names(f"@{tmp_path}/names") == [second, first]


def test_table_of_names(tmp_path: Path) -> None:
    """A CSV file's other columns are metadata of the trace."""
    (tmp_path / "names.csv").write_text('device,trace\n"Pixel, 5",a.pftrace\n,b.pftrace\n')
    found = find_traces(f"@{tmp_path}/names.csv")
    assert found == [Trace("a.pftrace", {"device": "Pixel, 5"}), Trace("b.pftrace")]


def test_table_with_a_ragged_line(tmp_path: Path) -> None:
    """A line with too many columns is refused, with its file."""
    (tmp_path / "names.csv").write_text("device,trace\nx,a,b\n")
    with pytest.raises(UnjankError, match=r"names\.csv: a line has other columns"):
        find_traces(f"@{tmp_path}/names.csv")


def test_names_from_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    """`@-` reads names from standard input."""
    monkeypatch.setattr("sys.stdin", io.StringIO("a\nb\n"))
    assert _names("@-") == ["a", "b"]


def test_folders_named_as_facts() -> None:
    """`KEY=VALUE` folders are metadata, as Hive lays out data."""
    (trace,) = find_traces("runs/build=123/device=oriole/no=/t.pftrace")
    assert trace.metadata == {"build": "123", "device": "oriole", "no": ""}


def test_urls(tmp_path: Path) -> None:
    """An fsspec URL may name one trace, a glob, or with a slash at its end a folder."""
    pytest.importorskip("fsspec", reason="fsspec is not installed")
    first, second = (f"file://{path}" for path in _touch(tmp_path, "a.pftrace", "deep/b.pftrace"))
    assert _names("s3://bucket/t.pftrace") == ["s3://bucket/t.pftrace"]
    assert _names(f"file://{tmp_path}/*.pftrace") == [first]
    assert _names(f"file://{tmp_path}/") == [first, second]


def test_nothing_there(tmp_path: Path) -> None:
    """An empty folder, a glob without a match and an unreadable list each say what is missing."""
    for source, words in (
        (tmp_path, "no trace there"),
        (f"{tmp_path}/*.none", "no trace there"),
        (f"@{tmp_path}/none", "file of names can't be read: No such file"),
        ([], "no traces given"),
    ):
        with pytest.raises(UnjankError, match=words):
            find_traces(source)
