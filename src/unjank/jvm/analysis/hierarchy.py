"""Which class is whose subclass, as far as an archive and the JDK's best-known classes tell."""

from collections.abc import Callable, Iterable

from unjank.jvm.bytecode.types import NULL, class_of
from unjank.jvm.classfile import Access, ClassHeader

Lookup = Callable[[str], Iterable[ClassHeader] | None]
"""All versions of a class in the archive; None if it has none, or one cannot be read."""

# Classes of the platform that are no interfaces, which their name does not tell; each is the type of fields
# in libraries. All others are taken for interfaces, which costs a check.
_PLATFORM_CLASSES = frozenset(
    f"java/lang/{name}"
    for name in (
        "Object",
        "String",
        "Thread",
        "Throwable",
        "Exception",
        "RuntimeException",
        "Integer",
        "Boolean",
    )
)
_PLATFORM = ("java/", "javax/", "jdk/", "sun/")


class Hierarchy:
    """Answers for one archive. A class that is there in several versions must fit in each."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup

    def assignable(self, kind: str, target: str, within: str) -> bool:
        """True if a value of verification type `kind` certainly is a `target` (internal name of a class).

        False as well where the JVM's verifier would have to load a class that may not be there: code that
        linked must still link. The superclasses of the class `within`, which has the code, are loaded in any
        case.
        """
        if kind == NULL or target == "java/lang/Object":
            return True
        name = class_of(kind)
        if name is None:
            return False
        if name == target:
            return True
        return self._descends(name, target) and (name == within or self._loads(name))

    def is_plain_class(self, kind: str) -> bool:
        """True if a field descriptor surely is a class that the verifier checks: no array, no interface."""
        name = class_of(kind)
        if name is None:
            return False
        headers = self._lookup(name)
        if headers is None:
            return name in _PLATFORM_CLASSES
        return not any(header.access & Access.INTERFACE for header in headers)

    def serializable_for_sure_not(self, name: str) -> bool:
        """True if neither the class nor anything above it is `java.io.Serializable`."""
        above = self.all_above(name)
        return above is not None and not any(
            other.startswith(_PLATFORM) and other not in _NOT_SERIALIZABLE for other in above
        )

    def _descends(self, name: str, target: str) -> bool:
        seen = set()
        while name not in seen:
            seen.add(name)
            headers = self._lookup(name)
            supers = {header.super_name for header in headers} if headers else set()
            if len(supers) != 1:
                return False
            above = supers.pop()
            if above == target:
                return True
            if above is None:
                return False
            name = above
        return False

    def _loads(self, name: str) -> bool:
        """True if everything that loading a class loads with it is in the archive or the platform."""
        return self.all_above(name) is not None

    def all_above(self, name: str) -> set[str] | None:
        """All superclasses and superinterfaces; None if one is neither in the archive nor the platform's."""
        found: set[str] = set()
        waiting = [name]
        while waiting:
            headers = self._lookup(waiting.pop())
            if headers is None:
                return None
            for header in headers:
                above = {*header.interfaces, *filter(None, (header.super_name,))} - found
                found |= above
                waiting += [other for other in above if not other.startswith(_PLATFORM)]
        return found


_NOT_SERIALIZABLE = frozenset(
    (
        "java/lang/Object",
        "java/lang/Runnable",
        "java/lang/Iterable",
        "java/lang/AutoCloseable",
        "java/lang/Cloneable",
        "java/io/Closeable",
        "java/lang/Thread",
        "java/util/Iterator",
        "java/util/Collection",
        "java/util/Queue",
        "java/util/Deque",
        "java/util/List",
        "java/util/Set",
        "java/util/Map",
        "java/util/AbstractCollection",
        "java/util/AbstractQueue",
        "java/util/concurrent/BlockingQueue",
        "java/util/concurrent/Callable",
        "java/util/concurrent/Executor",
        "java/util/concurrent/ExecutorService",
        "java/util/concurrent/Future",
    )
)
