"""`scan_archive`: what is in an archive, and what could be made direct. Nothing is written."""

from collections.abc import Iterator
from pathlib import Path

from unjank.jvm.analysis.plan import make_plan
from unjank.jvm.analysis.records import site_records, skipped_records, updater_records
from unjank.jvm.analysis.scope import Scope
from unjank.jvm.archive import ZipReader
from unjank.jvm.archive.classes import archive_scope, folder_scope, nested_archives
from unjank.jvm.errors import ArchiveError
from unjank.jvm.model import ScanResult, Skipped

_ARCHIVES = (".jar", ".aar", ".war", ".ear", ".apk")


def scan_archive(path: Path) -> ScanResult:
    """Looks through a jar, AAR or a folder of these and of class files; nested archives as well.

    Args:
        path: The archive or folder.

    Raises:
        ArchiveError: It is none, is damaged, or is not safe to read.
    """
    result = ScanResult(str(path))
    if path.is_dir():
        _scan_folder(path, result)
    else:
        with ZipReader.open(path) as reader:
            _scan(reader, "", result)
    return result


def _scan_folder(folder: Path, result: ScanResult) -> None:
    _record(folder_scope(folder), "", result)
    for path in _archives_in(folder):
        name = str(path.relative_to(folder))
        try:
            with ZipReader.open(path) as reader:
                _scan(reader, f"{name}!/", result)
        except ArchiveError as error:
            result.skipped.append(Skipped(name, "archive", str(error)))


def _archives_in(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.suffix.lower() in _ARCHIVES and path.is_file())


def _scan(reader: ZipReader, prefix: str, result: ScanResult, depth: int = 0) -> None:
    _record(archive_scope(reader), prefix, result)
    for nested in nested_archives(reader, prefix, depth, result.skipped):
        with nested:
            _scan(nested, f"{nested.name}!/", result, depth + 1)


def _record(scope: Scope, prefix: str, result: ScanResult) -> None:
    decisions = scope.decisions()
    result.sites.extend(site_records(scope, decisions, prefix))
    result.updaters.extend(updater_records(scope, make_plan(scope, decisions).values(), prefix))
    result.skipped.extend(skipped_records(scope, prefix))
