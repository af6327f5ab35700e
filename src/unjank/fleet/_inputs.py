"""Which traces: paths, globs, folders, files of names and fsspec URLs, in the order given, each once."""

import csv
import glob
import io
import os
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from unjank._errors import UnjankError
from unjank.fleet._extras import require_fsspec
from unjank.fleet._trace import Trace, facts_in_path, is_url

_MAGIC = re.compile(r"[*?\[]")
_NAMES_MARK = "@"
_NAME_COLUMN = "trace"

Source = str | os.PathLike[str] | Trace


def find_traces(sources: Source | Iterable[Source]) -> list[Trace]:
    """The traces that `sources` name.

    Args:
        sources: Of each: a `Trace`; a path; a glob (`**` goes into folders); a folder, of which every file
            counts but hidden ones; an fsspec URL, which may be a glob or end with `/`; or `@FILE`, a file of
            these, one a line, or a CSV file with a column `trace` and others that become metadata. `@-` is
            standard input.

    Raises:
        UnjankError: Nothing is there, or a file of names cannot be read.
    """
    if isinstance(sources, (str, os.PathLike, Trace)):
        sources = [sources]
    found: dict[str, Trace] = {}
    for source in sources:
        for trace in _expand(source):
            found.setdefault(trace.name, trace)
    if not found:
        raise UnjankError("no traces given; name files, folders, globs, URLs, or @FILE with names")
    return list(found.values())


def _expand(source: Source) -> Iterator[Trace]:
    if isinstance(source, Trace):
        yield source
        return
    text = os.fspath(source)
    if text.startswith(_NAMES_MARK) and not os.path.lexists(text):
        yield from _named_in(text.removeprefix(_NAMES_MARK))
        return
    names = list(_names_at(text))
    if not names:
        raise UnjankError(f"{text}: no trace there; check the path, and quote globs")
    yield from map(Trace.at, names)


def _names_at(text: str) -> Iterator[str]:
    if is_url(text):
        yield from _remote_names(text)
    elif Path(text).is_dir():
        yield from _files_below(Path(text))
    elif _MAGIC.search(text) and not os.path.lexists(text):
        found = glob.glob(text, recursive=True)  # noqa: PTH207  names stay as they were given
        yield from sorted(name for name in found if not Path(name).is_dir())
    else:
        yield text  # one that is missing or unreadable is told as an error of that trace


def _files_below(folder: Path) -> Iterator[str]:
    for base, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if not name.startswith("."):
                yield os.path.join(base, name)  # noqa: PTH118  as it was given, not normalised


def _remote_names(url: str) -> Iterator[str]:
    if not _MAGIC.search(url) and not url.endswith("/"):
        yield url
        return
    fsspec = require_fsspec()
    try:
        filesystem, path = fsspec.url_to_fs(url)
        found = filesystem.glob(path) if _MAGIC.search(url) else filesystem.find(path)
        names = sorted(name for name in found if not _is_folder(filesystem, name))
    except (OSError, ValueError, ImportError) as error:
        raise UnjankError(f"{url}: can't be listed: {error}") from error
    yield from map(filesystem.unstrip_protocol, names)


def _is_folder(filesystem: Any, name: str) -> bool:  # noqa: ANN401  an fsspec file system, untyped
    return bool(filesystem.isdir(name))


def _named_in(name: str) -> Iterator[Trace]:
    text = _read_names(name)
    lines = [line.strip() for line in text.splitlines()]
    lines = [line for line in lines if line and not line.startswith("#")]
    header = next(csv.reader(lines[:1]), [])
    if _NAME_COLUMN in header and len(header) > 1:
        yield from _named_in_table(name, lines)
        return
    for line in lines[lines[:1] == [_NAME_COLUMN] :]:
        yield from _expand_line(line)


def _expand_line(line: str) -> Iterator[Trace]:
    if line.startswith(_NAMES_MARK):
        yield Trace.at(line)  # a file of names does not lead to others
    else:
        yield from _expand(line)


def _named_in_table(name: str, lines: list[str]) -> Iterator[Trace]:
    for row in csv.DictReader(io.StringIO("\n".join(lines))):
        trace = row.pop(_NAME_COLUMN)
        if not trace or None in row:
            raise UnjankError(f"{name}: a line has other columns than the first one: {trace!r}")
        facts = {key: value for key, value in row.items() if value}
        yield Trace(trace, {**facts_in_path(trace), **facts})


def _read_names(name: str) -> str:
    try:
        if name == "-":
            return sys.stdin.read()
        if is_url(name):
            with require_fsspec().open(name, "rt", encoding="utf-8-sig") as file:
                return str(file.read())
        return Path(name).read_text("utf-8-sig")
    except OSError as error:
        raise UnjankError(f"{name}: the file of names can't be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise UnjankError(f"{name}: is not a file of names in UTF-8 (byte {error.start})") from None
