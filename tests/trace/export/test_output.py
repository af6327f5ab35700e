"""An output file appears whole or not at all."""

import os
from pathlib import Path

import pytest

from unjank import UnjankError
from unjank.trace.export.output import open_output


def test_file_appears_at_the_end(tmp_path: Path) -> None:
    """Until the end there is nothing under the name; then all of it, and no other file."""
    target = tmp_path / "rows.csv"
    with open_output(target) as out:
        out.stream.write(b"a,b\n")
        assert not target.exists()
    assert target.read_bytes() == b"a,b\n"
    assert list(tmp_path.iterdir()) == [target]


def _fail_in_the_middle(target: Path) -> None:
    with open_output(target) as out:
        out.stream.write(b"half")
        raise KeyError


def test_error_leaves_what_was_there(tmp_path: Path) -> None:
    """An error in the middle keeps the old file and leaves no temporary one."""
    target = tmp_path / "rows.csv"
    target.write_text("old")
    with pytest.raises(KeyError):
        _fail_in_the_middle(target)
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_discard_removes_the_unfinished_file(tmp_path: Path) -> None:
    """A process that is about to be ended can clean up."""
    context = open_output(tmp_path / "rows.csv")
    out = context.__enter__()
    assert out.temporary is not None
    assert out.temporary.exists()
    out.discard()
    assert list(tmp_path.iterdir()) == []
    context.__exit__(KeyError, KeyError(), None)


def test_mode(tmp_path: Path) -> None:
    """A new file gets the mode that the umask leaves, a replaced one keeps its own."""
    before = os.umask(0o027)
    try:
        with open_output(tmp_path / "new"):
            pass
    finally:
        os.umask(before)
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o640
    (tmp_path / "new").chmod(0o604)
    with open_output(tmp_path / "new"):
        pass
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o604


def test_link_stays_a_link(tmp_path: Path) -> None:
    """Writing to a link writes to what it points to."""
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "real").touch()
    with open_output(tmp_path / "link") as out:
        out.stream.write(b"x")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"x"


def test_device_is_written_to(tmp_path: Path) -> None:
    """A device is not replaced by a file."""
    with open_output(Path("/dev/null")) as out:
        out.stream.write(b"x")
    assert Path("/dev/null").is_char_device()


def test_full_disk() -> None:
    """A full disk is one line."""
    with pytest.raises(UnjankError, match="/dev/full: can't be written: No space left"):
        _fill_device()


def _fill_device() -> None:
    with open_output(Path("/dev/full")) as out:
        out.stream.write(b"x" * 100_000)


@pytest.mark.parametrize("place", ["missing/rows.csv", ""])
def test_impossible_place(tmp_path: Path, place: str) -> None:
    """A folder that does not exist, or a folder as target, is one line."""
    with pytest.raises(UnjankError, match="can't be written"), open_output(tmp_path / place):
        pytest.fail("there is nothing to write to")
