"""`optimize_archive`: reads an archive, writes one in which proven calls are direct, and reads that again."""

import os
import shutil
import tempfile
from pathlib import Path

from unjank.jvm.archive import ZipReader
from unjank.jvm.archive.layout import ArchiveKind, kind_of
from unjank.jvm.archive.limits import Budget
from unjank.jvm.archive_optimizer import ArchiveOptimizer, Totals
from unjank.jvm.errors import ArchiveError
from unjank.jvm.model import OptimizeOptions, OptimizeResult, Target


def optimize_archive(source: Path, output: Path, options: OptimizeOptions) -> OptimizeResult:
    """Makes the proven calls of a jar or AAR direct, nested archives included.

    The output is written to a temporary file beside it, read and verified again, and renamed. Without
    anything to change it is a copy of the source. Of a symbolic link, the file it leads to is replaced.

    Raises:
        ArchiveError: The source is no jar or AAR, is damaged, signed, not safe to read, or its module lacks
            what the target needs; or the output cannot be written, or is no regular file: a device or pipe
            would be replaced.
        VerificationError: The output is not what it should be; nothing is left behind.
    """
    if source.is_dir():
        raise ArchiveError(f"{source} is a folder; name the archives in it")
    if output.exists() and not output.is_file():
        raise ArchiveError(f"{output} is no regular file, and would be replaced by one; name a file with -o")
    with ZipReader.open(source) as reader:
        kind = kind_of(entry.name for entry in reader.entries)
        if kind is ArchiveKind.APK:
            raise ArchiveError(
                f"{source} has dex code, which can only be scanned; optimise the jars it is made of"
            )
        target: Target = options.target or ("unsafe" if kind is ArchiveKind.AAR else "varhandle")
        totals = Totals(options, target, android=kind is ArchiveKind.AAR, budget=Budget(reader.size))
        _write(reader, source, output.resolve(), totals)
    return OptimizeResult(
        source=str(source),
        output=str(output),
        target=target,
        updaters=totals.updaters,
        sites=totals.sites,
        classes_changed=totals.classes_changed,
        classes_added=totals.classes_added,
        skipped=totals.skipped,
    )


def _write(reader: ZipReader, source: Path, output: Path, totals: Totals) -> None:
    optimizer = ArchiveOptimizer(reader, "", totals)
    partial = _temporary_beside(output)
    try:
        if optimizer.changes_anything:
            with partial.open("wb") as out:
                optimizer.write(out)
            with ZipReader.open(partial) as written:
                optimizer.verify(written)
        else:
            shutil.copyfile(source, partial)
        shutil.copymode(source, partial)
        partial.replace(output)
    except OSError as error:
        raise ArchiveError(f"cannot write {output}: {error.strerror}; name another place with -o") from error
    finally:
        partial.unlink(missing_ok=True)


def _temporary_beside(output: Path) -> Path:
    try:
        handle, name = tempfile.mkstemp(prefix=f".{output.name}.", dir=output.absolute().parent)
    except OSError as error:
        raise ArchiveError(f"cannot write {output}: {error.strerror}; name another place with -o") from error
    os.close(handle)
    return Path(name)
