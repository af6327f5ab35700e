"""`scan_archive`: what is in an archive, and what could be made direct; in dex code, what is not."""

from pathlib import Path

from unjank.jvm.analysis.plan import make_plan
from unjank.jvm.analysis.records import site_records, skipped_records, updater_records
from unjank.jvm.analysis.scope import Scope
from unjank.jvm.archive import Entry, ZipReader
from unjank.jvm.archive.classes import archive_scope, folder_scope, nested_archives
from unjank.jvm.archive.layout import is_dex
from unjank.jvm.archive.limits import MAX_DEX, Budget, check_expansion
from unjank.jvm.dex import scan_dex
from unjank.jvm.errors import ArchiveError
from unjank.jvm.model import ScanResult, Skipped

_ARCHIVES = (".jar", ".aar", ".war", ".ear", ".apk")


def scan_archive(path: Path) -> ScanResult:
    """Looks through a jar, AAR, APK or a folder of these and of class files; nested archives as well.

    Args:
        path: The archive or folder.

    Raises:
        ArchiveError: It is none, is damaged, is not safe to read, or has dex code and LIEF is not installed.
    """
    result = ScanResult(str(path))
    if path.is_dir():
        _scan_folder(path, result)
    else:
        with ZipReader.open(path) as reader:
            _scan(reader, "", result, Budget(reader.size))
    return result


def _scan_folder(folder: Path, result: ScanResult) -> None:
    _record(folder_scope(folder), "", result)
    for path in _archives_in(folder):
        name = str(path.relative_to(folder))
        try:
            with ZipReader.open(path) as reader:
                _scan(reader, f"{name}!/", result, Budget(reader.size))
        except ArchiveError as error:
            result.skipped.append(Skipped(name, "archive", str(error)))


def _archives_in(folder: Path) -> list[Path]:
    """Archives below, each once: `x.jar` may be a link to the `x-1.0.jar` beside it."""
    found = (path for path in folder.rglob("*") if path.suffix.lower() in _ARCHIVES and path.is_file())
    once: dict[Path, Path] = {}
    for path in sorted(found, key=lambda path: (path.is_symlink(), path)):
        once.setdefault(path.resolve(), path)
    return sorted(once.values())


def _scan(reader: ZipReader, prefix: str, result: ScanResult, budget: Budget, depth: int = 0) -> None:
    _record(archive_scope(reader, budget), prefix, result)
    for entry in reader.distinct:
        if is_dex(entry.name):
            _scan_dex_entry(reader, entry, prefix, result)
    for nested in nested_archives(reader, prefix, depth, budget, result.skipped):
        with nested:
            _scan(nested, f"{nested.name}!/", result, budget, depth + 1)


def _scan_dex_entry(reader: ZipReader, entry: Entry, prefix: str, result: ScanResult) -> None:
    check_expansion(entry.name, entry.packed, entry.size, MAX_DEX)
    dex, sites = scan_dex(reader.read(entry), prefix + entry.name)
    result.dex.append(dex)
    result.sites.extend(sites)


def _record(scope: Scope, prefix: str, result: ScanResult) -> None:
    decisions = scope.decisions()
    result.sites.extend(site_records(scope, decisions, prefix))
    result.updaters.extend(updater_records(scope, make_plan(scope, decisions).values(), prefix))
    result.skipped.extend(skipped_records(scope, prefix))
