"""Atomic*FieldUpdater calls in class files: found, proven, made direct. No JVM is needed.

classfile/  class files
bytecode/   instructions and what they do to the stack
analysis/   which calls are of which updater, and what is proven
rewrite/    calls made direct
archive/    zip files, entry by entry
model.py    the records of a result
scan.py     scan_archive
dex.py      dex code, through LIEF
optimize.py optimize_archive
archive_optimizer.py  one archive on its way
verify.py   the own output, read again
keep_rules.py  rules for R8 and ProGuard
"""

from unjank.jvm.analysis.reasons import Reason
from unjank.jvm.errors import ArchiveError, AtomicsError, ClassFileError, VerificationError
from unjank.jvm.model import (
    Decision,
    DexFile,
    OptimizeOptions,
    OptimizeResult,
    Outcome,
    ScanResult,
    SiteRecord,
    Skipped,
    UpdaterRecord,
)
from unjank.jvm.optimize import optimize_archive
from unjank.jvm.scan import scan_archive

__all__ = [
    "ArchiveError",
    "AtomicsError",
    "ClassFileError",
    "Decision",
    "DexFile",
    "OptimizeOptions",
    "OptimizeResult",
    "Outcome",
    "Reason",
    "ScanResult",
    "SiteRecord",
    "Skipped",
    "UpdaterRecord",
    "VerificationError",
    "optimize_archive",
    "scan_archive",
]
