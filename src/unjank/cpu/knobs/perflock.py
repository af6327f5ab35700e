"""Qualcomm's performance lock: how an app without root asks a phone for speed.

`android.util.BoostFramework` is in the framework of Qualcomm devices, marked by QPerformance.jar or
QXPerformance.jar. It is called through pyjnius, in a Python that runs in an app.
"""

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any

from unjank._errors import CpuError
from unjank.cpu.errors import AbsentError, ForbiddenError
from unjank.cpu.kernel_tree import KernelTree
from unjank.cpu.knobs.knob import Availability

NO_DEEP_IDLE = 0x40400000
MIN_FREQUENCY_BIG, MIN_FREQUENCY_LITTLE, MIN_FREQUENCY_PRIME = 0x40800000, 0x40800100, 0x40800200
MAX_FREQUENCY_BIG, MAX_FREQUENCY_LITTLE, MAX_FREQUENCY_PRIME = 0x40804000, 0x40804100, 0x40804200
SCHEDULER_BOOST = 0x40C00000
TOP_FREQUENCY = 0xFFF

OPCODES: Mapping[str, int] = MappingProxyType(
    {
        "no_deep_idle": NO_DEEP_IDLE,
        "min_freq_big": MIN_FREQUENCY_BIG,
        "min_freq_little": MIN_FREQUENCY_LITTLE,
        "min_freq_prime": MIN_FREQUENCY_PRIME,
        "max_freq_big": MAX_FREQUENCY_BIG,
        "max_freq_little": MAX_FREQUENCY_LITTLE,
        "max_freq_prime": MAX_FREQUENCY_PRIME,
        "scheduler_boost": SCHEDULER_BOOST,
    }
)
"""Resources by name. Frequencies are in MHz, 0xFFF for the top; the two switches take 1."""

FASTEST: Mapping[str, int] = MappingProxyType(
    {
        "no_deep_idle": 1,
        "min_freq_big": TOP_FREQUENCY,
        "min_freq_little": TOP_FREQUENCY,
        "min_freq_prime": TOP_FREQUENCY,
        "max_freq_big": TOP_FREQUENCY,
        "max_freq_little": TOP_FREQUENCY,
        "max_freq_prime": TOP_FREQUENCY,
        "scheduler_boost": 1,
    }
)
"""Everything as fast as it goes."""

_CLASS = "android/util/BoostFramework"
_JARS = ("QPerformance.jar", "QXPerformance.jar")
_FOLDERS = ("system/framework", "system_ext/framework", "system/system_ext/framework")
_MOST_MS = 2**31 - 1
_NO_EXTRA = "pyjnius, which calls Java, is not installed; pip install unjank[android]"


class PerfLock:
    """A performance lock over some resources, for a duration or until released.

    Attributes:
        name: `perflock`.
        handle: The device's handle while it is held.
    """

    name = "perflock"

    def __init__(
        self, tree: KernelTree | None = None, resources: Mapping[str, int] = FASTEST, seconds: float = 0.0
    ) -> None:
        """Nothing happens yet.

        Args:
            tree: Where the framework's folder is looked for.
            resources: Values by the names of `OPCODES`.
            seconds: For how long; 0 is until it is released.

        Raises:
            CpuError: An unknown resource, or values out of bounds.
        """
        self._tree = tree or KernelTree()
        self._arguments = _arguments(resources)
        self._milliseconds = _milliseconds(seconds)
        self._framework: Any = None
        self.handle: int | None = None

    def available(self) -> Availability:
        """Whether this is such a device and the class can be called; elsewhere no Java machine is started."""
        if not marked(self._tree):
            return Availability(False, f"no Qualcomm device: {_FOLDERS[0]} has none of {', '.join(_JARS)}")
        try:
            _framework_class()
        except AbsentError as error:
            return Availability(False, str(error))
        return Availability(True)

    def read(self) -> str:
        """The handle while held, else empty: the device tells nothing else."""
        return "" if self.handle is None else str(self.handle)

    def acquire(self) -> None:
        """Takes the lock: `perfLockAcquire(ms, {key, value, …})`.

        Raises:
            AbsentError: The device has none.
            ForbiddenError: The device refused: it answers 0 or below instead of a handle.
        """
        if self.handle is not None:
            return
        framework = self._connected()
        handle = framework.perfLockAcquire(self._milliseconds, self._arguments)
        if handle <= 0:
            raise ForbiddenError(
                f"the device refused the performance lock ({handle}); its vendor decides which apps may have "
                "it, and which resources there are: try fewer"
            )
        self.handle = handle

    def release(self) -> None:
        """Gives it back early: `perfLockReleaseHandler(handle)`; a second call does nothing."""
        handle, self.handle = self.handle, None
        if handle is not None:
            self._connected().perfLockReleaseHandler(handle)

    def hint(self, number: int, package: str = "", seconds: float = 0.0, kind: int = -1) -> int:
        """Tells the device what goes on: `perfHint(number, package, ms, kind)`.

        Returns:
            The device's answer; a handle where it boosts.

        Raises:
            AbsentError: The device has no such class.
        """
        answer: int = self._connected().perfHint(number, package, _milliseconds(seconds), kind)
        return answer

    def _connected(self) -> Any:  # noqa: ANN401  a class that pyjnius makes at run time
        if self._framework is None:
            self._framework = _framework_class()()
        return self._framework


def marked(tree: KernelTree) -> bool:
    """Whether the framework's folder has the jar by which Qualcomm devices are told."""
    return any(tree.path(f"{folder}/{jar}").exists() for folder in _FOLDERS for jar in _JARS)


def _arguments(resources: Mapping[str, int]) -> list[int]:
    unknown = sorted(set(resources) - set(OPCODES))
    if unknown or not resources:
        raise CpuError(f"no performance lock for {unknown or 'nothing'}; it takes {', '.join(OPCODES)}")
    if not all(0 <= value <= TOP_FREQUENCY for value in resources.values()):
        raise CpuError(f"values of a performance lock are 0 to {TOP_FREQUENCY}")
    return [number for name, value in resources.items() for number in (OPCODES[name], value)]


def _milliseconds(seconds: float) -> int:
    if not 0 <= seconds * 1000 <= _MOST_MS:
        raise CpuError(f"a performance lock lasts 0 to {_MOST_MS // 1000} s, not {seconds}")
    return round(seconds * 1000)


def _framework_class() -> Any:  # noqa: ANN401  a class that pyjnius makes at run time
    """The Java class, with its signatures named: reflection would leave the choice of overload to chance."""
    try:
        jnius = import_module("jnius")
    except ModuleNotFoundError as error:
        raise AbsentError(_NO_EXTRA) from error
    except Exception as error:  # whatever pyjnius raises where it finds no JVM: KeyError, OSError, its own
        raise AbsentError("pyjnius finds no Java machine; set JAVA_HOME, or JVM_PATH to libjvm.so") from error
    body = {
        "__javaclass__": _CLASS,
        "__javaconstructor__": [("()V", False)],
        "perfLockAcquire": jnius.JavaMethod("(I[I)I"),
        "perfLockReleaseHandler": jnius.JavaMethod("(I)I"),
        "perfHint": jnius.JavaMethod("(ILjava/lang/String;II)I"),
    }
    try:
        return jnius.MetaJavaClass("BoostFramework", (jnius.JavaClass,), body)
    except jnius.JavaException as error:
        raise AbsentError("this device has no class android.util.BoostFramework") from error
