"""What an archive's entries are: classes and their layer, nested archives, signatures, dex."""

import re
from collections.abc import Iterable
from enum import StrEnum

_VERSIONED = re.compile(r"META-INF/versions/(\d+)/(.*)")
_ROOTS = ("BOOT-INF/classes/", "WEB-INF/classes/", "APP-INF/classes/")
_NESTED = (".jar", ".war", ".ear", ".aar")
_TARGETED_RULE = re.compile(r"META-INF/com\.android\.tools/[^/]+/[^/]+")
_SIGNATURE = re.compile(r"META-INF/(?:[^/]+\.(?:SF|RSA|DSA|EC)|SIG-[^/]*)", re.IGNORECASE)


class ArchiveKind(StrEnum):
    """Kinds that are treated differently."""

    JAR = "jar"
    AAR = "aar"
    APK = "apk"


def kind_of(names: Iterable[str]) -> ArchiveKind:
    """What an archive is, by its content rather than its file name."""
    found = set(names)
    if "AndroidManifest.xml" in found and "classes.jar" in found:
        return ArchiveKind.AAR
    return ArchiveKind.APK if any(is_dex(name) for name in found) else ArchiveKind.JAR


def is_class(name: str) -> bool:
    """True for a class file."""
    return name.endswith(".class")


def is_nested(name: str) -> bool:
    """True for an archive within the archive."""
    return name.lower().endswith(_NESTED)


def is_dex(name: str) -> bool:
    """True for Android code, in an APK or an app bundle."""
    return name.endswith(".dex")


def is_signature(name: str) -> bool:
    """True for the files that sign a jar, but for the manifest."""
    return _SIGNATURE.fullmatch(name) is not None


def is_targeted_rule(name: str) -> bool:
    """True for keep rules of a library that are for certain versions of R8 or ProGuard."""
    return _TARGETED_RULE.fullmatch(name) is not None


def layer_of(name: str) -> int:
    """The Java version from which an entry counts, in a multi-release jar; 0 for the rest."""
    found = _VERSIONED.fullmatch(name)
    return int(found[1]) if found else 0


def class_name(name: str) -> str:
    """The internal class name that an entry's path promises."""
    found = _VERSIONED.fullmatch(name)
    path = found[2] if found else name
    for root in _ROOTS:
        path = path.removeprefix(root)
    return path.removesuffix(".class")


def sibling(name: str, class_file: str) -> str:
    """The path of a class in the same package, layer and root as the entry `name`."""
    return name.rpartition("/")[0] + "/" * ("/" in name) + class_file + ".class"
