"""Only what its owner alone could have written is read from a private folder."""

import os
from pathlib import Path

import pytest

from unjank.trace.engine.private_folder import PrivateFolder, UntrustedCacheError, cache_home


@pytest.fixture
def folder(tmp_path: Path) -> PrivateFolder:
    """A private folder that was just made."""
    made = PrivateFolder(tmp_path / "deep" / "unjank")
    made.ensure()
    return made


def _read(folder: PrivateFolder, path: Path) -> bytes:
    fd = folder.open_verified(path)
    try:
        return os.pread(fd, 1 << 20, 0)
    finally:
        os.close(fd)


def test_is_for_its_owner_only(folder: PrivateFolder) -> None:
    """The folder has mode 0700, and what is written there 0600."""
    path = folder.write("key", ".bin", b"code")
    assert folder.path.stat().st_mode & 0o777 == 0o700
    assert path.stat().st_mode & 0o777 == 0o600


def test_what_was_written_is_found_and_read(folder: PrivateFolder) -> None:
    """A file is found by key and suffix, and read whole."""
    path = folder.write("key", ".bin", b"code")
    folder.write("key2", ".bin", b"other")
    assert folder.find("key", ".bin") == [path]
    assert _read(folder, path) == b"code"


def test_nothing_unfinished_is_left(folder: PrivateFolder) -> None:
    """After writing there is the file and no temporary one."""
    path = folder.write("key", ".bin", b"code")
    assert list(folder.path.iterdir()) == [path]


@pytest.mark.parametrize("mode", [0o755, 0o770, 0o702])
def test_folder_open_to_others_is_refused(folder: PrivateFolder, mode: int) -> None:
    """A folder that others may enter is not used."""
    folder.path.chmod(mode)
    with pytest.raises(UntrustedCacheError, match="open to other users"):
        folder.ensure()


def test_linked_folder_is_refused(folder: PrivateFolder, tmp_path: Path) -> None:
    """A link is not followed, even to a good folder."""
    link = tmp_path / "link"
    link.symlink_to(folder.path)
    with pytest.raises(UntrustedCacheError, match="is not a folder"):
        PrivateFolder(link).ensure()


def test_damaged_file_is_refused(folder: PrivateFolder) -> None:
    """One changed byte is noticed."""
    path = folder.write("key", ".bin", b"code")
    path.write_bytes(b"cod3")
    with pytest.raises(UntrustedCacheError, match="damaged"):
        folder.open_verified(path)


def test_file_open_to_others_is_refused(folder: PrivateFolder) -> None:
    """A file that others may write is not read."""
    path = folder.write("key", ".bin", b"code")
    path.chmod(0o666)
    with pytest.raises(UntrustedCacheError, match="open to other users"):
        folder.open_verified(path)


def test_linked_file_is_refused(folder: PrivateFolder, tmp_path: Path) -> None:
    """A link to a file is not followed, even when the content fits its name."""
    path = folder.write("key", ".bin", b"code")
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic link"):
        folder.open_verified(path)


def test_pipe_is_refused_without_waiting(folder: PrivateFolder) -> None:
    """A pipe of the right name does not make the reader wait for a writer."""
    path = folder.path / "key.digest.bin"
    os.mkfifo(path, 0o600)
    with pytest.raises(UntrustedCacheError, match="not a plain file"):
        folder.open_verified(path)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_file_of_another_user_is_refused(folder: PrivateFolder) -> None:
    """A file, or a folder, that belongs to somebody else is not used."""
    path = folder.write("key", ".bin", b"code")
    os.chown(path, 12345, 12345)
    with pytest.raises(UntrustedCacheError, match="uid 12345"):
        folder.open_verified(path)
    os.chown(folder.path, 12345, 12345)
    with pytest.raises(UntrustedCacheError, match="uid 12345"):
        folder.ensure()


def test_cache_home_follows_xdg(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """$XDG_CACHE_HOME counts where it is absolute, as its specification says; otherwise ~/.cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_home() == tmp_path
    monkeypatch.setenv("HOME", "/home/someone")
    for ignored in ("relative/path", ""):
        monkeypatch.setenv("XDG_CACHE_HOME", ignored)
        assert cache_home() == Path("/home/someone/.cache")
