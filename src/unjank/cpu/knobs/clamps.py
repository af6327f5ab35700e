"""A thread's lower utilisation clamp, as a knob: with it the frequency follows the thread, not its load."""

from unjank._errors import CpuError
from unjank.cpu.clamp import ClampSetting
from unjank.cpu.errors import AbsentError
from unjank.cpu.kernel_tree import KernelTree
from unjank.cpu.knobs.knob import Availability
from unjank.cpu.scheduler import Clamp, Scheduler
from unjank.cpu.threads import ThreadRef, is_same


class ThreadClamp:
    """Both clamps of one thread, written `LOW HIGH`.

    Attributes:
        name: `clamp/PID/TID/START`, which names the thread for good.
    """

    def __init__(self, tree: KernelTree, scheduler: Scheduler, thread: ThreadRef) -> None:
        self.name = f"clamp/{thread.pid}/{thread.tid}/{thread.start_ticks}"
        self._tree = tree
        self._thread = thread
        self._setting = ClampSetting(scheduler, tree)

    def available(self) -> Availability:
        """Whether the thread lives and the kernel has clamps."""
        if not is_same(self._thread, self._tree):
            return Availability(False, f"{self._thread} has ended")
        try:
            self.read()
        except AbsentError as error:
            return Availability(False, str(error))
        return Availability(True)

    def read(self) -> str:
        """Both clamps."""
        try:
            value = self._setting.read(self._thread.tid)
        except OSError as error:
            raise self._setting.explain(error, self._thread, None) from error
        return f"{value.low} {value.high}"

    def write(self, value: str) -> None:
        """Sets both clamps; raises CpuError."""
        low, _, high = value.partition(" ")
        if not (low.isdecimal() and high.isdecimal()):
            raise CpuError(f"{value!r} are not clamps; write LOW HIGH")
        wanted = Clamp(int(low), int(high))
        try:
            self._setting.write(self._thread.tid, wanted)
        except OSError as error:
            raise self._setting.explain(error, self._thread, wanted) from error
