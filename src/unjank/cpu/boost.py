"""Speed for a while: turns knobs, all or none, and puts them back, whatever happens in between."""

import atexit
import os
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from unjank._errors import CpuError
from unjank.cpu.errors import AbsentError, ForbiddenError
from unjank.cpu.journal import Entry, Journal, state_folder
from unjank.cpu.kernel_tree import KernelTree
from unjank.cpu.knobs import (
    FrequencyLimit,
    Governor,
    HeldKnob,
    Knob,
    PerfLock,
    WakeLatency,
    check_frequency,
    find_knob,
    policies,
    turbo_knobs,
)
from unjank.cpu.knobs.clamps import ThreadClamp
from unjank.cpu.knobs.perflock import FASTEST
from unjank.cpu.power import read_frequencies
from unjank.cpu.scheduler import KernelScheduler, Scheduler
from unjank.cpu.signals import uninterrupted
from unjank.cpu.threads import ThreadRef
from unjank.cpu.topology import read_topology

_SIGNALS_SEEN_S = 1.0  # one that arrives just before a wait begins does not end it

Frequencies = Mapping[int, int | None]


@dataclass(frozen=True)
class BoostPlan:
    """What to turn; None leaves a knob alone.

    Attributes:
        governor: Its name, such as `performance`.
        min_frequency: Lowest frequency: `min`, `max`, `1800MHz`, or kHz.
        max_frequency: Highest frequency, likewise.
        turbo: On or off.
        clamp: Lower utilisation clamp of `threads`, 0 to 1024.
        threads: Whose clamp.
        wake_latency_us: Idle states that take longer than this to leave are not entered; 0: CPUs only poll.
        perflock: Resources of Qualcomm's performance lock, by the names of `knobs.perflock.OPCODES`.
    """

    governor: str | None = None
    min_frequency: str | None = None
    max_frequency: str | None = None
    turbo: bool | None = None
    clamp: int | None = None
    threads: tuple[ThreadRef, ...] = ()
    wake_latency_us: int | None = None
    perflock: Mapping[str, int] | None = None


FASTEST_PLAN = BoostPlan(
    governor="performance",
    min_frequency="max",
    max_frequency="max",
    turbo=True,
    wake_latency_us=0,
    perflock=FASTEST,
)
"""Every knob there is, as fast as it goes."""


@dataclass(frozen=True)
class Turned:
    """A knob that was turned: its value before, and what was read back."""

    knob: str
    before: str
    after: str


@dataclass(frozen=True)
class Absent:
    """A knob that this machine lacks, and why it is thought so."""

    knob: str
    reason: str


@dataclass
class BoostReport:
    """What a boost did.

    Attributes:
        turned: Knobs that were turned, in that order.
        held: Knobs that are held while it lasts.
        absent: Knobs that were asked for and are not there; no error.
        left: Entries of a process that died, put back before this boost began.
        before: Frequency of each CPU before, kHz; None where it is not known.
        during: The same right before it ended.
        after: The same afterwards.
    """

    turned: list[Turned] = field(default_factory=list)
    held: list[str] = field(default_factory=list)
    absent: list[Absent] = field(default_factory=list)
    left: tuple[Entry, ...] = ()
    before: Frequencies = field(default_factory=dict)
    during: Frequencies = field(default_factory=dict)
    after: Frequencies = field(default_factory=dict)


class Boost:
    """One boost, from `start` to `stop`; used in a `with` statement as well. Made by `boost`."""

    def __init__(
        self,
        plan: BoostPlan,
        seconds: float | None,
        tree: KernelTree,
        scheduler: Scheduler,
        folder: Path,
    ) -> None:
        self.report = BoostReport()
        self._plan = plan
        self._seconds = seconds
        self._tree = tree
        self._scheduler = scheduler
        self._journal = Journal(folder, tree)
        self._held: list[HeldKnob] = []
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._timer: threading.Timer | None = None
        self._failure: CpuError | None = None
        self._started = False

    def start(self) -> Self:
        """Puts back what a process that died has left, then turns the knobs.

        Raises:
            ForbiddenError: A knob refused; all are as they were.
            CpuError: Another boost is active, a value is wrong, or no knob that was asked for is there.
        """
        if self._started:
            raise CpuError("a boost starts only once; make another one")
        self._started = True
        self._journal.open()
        try:
            self.report.left = _restore(self._journal, self._tree, self._scheduler)
            self.report.before = self._frequencies()
            self._turn_all()
        except BaseException:
            self._end()
            raise
        atexit.register(self.stop)
        if self._seconds is not None:
            self._timer = threading.Timer(self._seconds, self._stop_on_time)
            self._timer.daemon = True
            self._timer.start()
        return self

    def wait(self) -> None:
        """Waits until its duration is over or another thread has stopped it; raises as `stop` does."""
        while not self._stopped.wait(_SIGNALS_SEEN_S):
            pass
        self._raise_failure()

    def stop(self) -> BoostReport:
        """Puts everything back; a second call answers the same. In a forked child it does nothing.

        Raises:
            CpuError: A knob could not be put back; the others are, and the journal keeps that one.
        """
        if os.getpid() == self._pid and self._started:
            with self._lock:
                if not self._stopped.is_set():
                    self._end()
            self._raise_failure()
        return self.report

    def __enter__(self) -> Self:
        return self if self._started else self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    def _turn_all(self) -> None:
        for knob, value in self._wanted():
            self._turn(knob, value)
        for held in self._wanted_held():
            self._hold(held)
        if not self.report.turned and not self.report.held:
            reasons = "; ".join(dict.fromkeys(absent.reason for absent in self.report.absent))
            raise AbsentError(f"this machine has none of the knobs: {reasons or 'none was asked for'}")

    def _wanted(self) -> Iterable[tuple[Knob, str]]:
        plan, tree = self._plan, self._tree
        there = policies(tree)
        for frequency in filter(None, (plan.min_frequency, plan.max_frequency)):
            check_frequency(frequency)  # also where there is nothing to set it on
        if not there and (plan.governor or plan.min_frequency or plan.max_frequency):
            self._miss("cpufreq", "there is no cpufreq: the host or the firmware sets the frequencies")
        for policy in there:
            yield from self._of_policy(policy.number)
        if plan.turbo is not None:
            for knob in turbo_knobs(tree):
                yield knob, "1" if plan.turbo else "0"
        if plan.clamp is not None:
            for thread in plan.threads:
                clamp = ThreadClamp(tree, self._scheduler, thread)
                high = clamp.read().partition(" ")[2] if clamp.available().present else "1024"
                yield clamp, f"{plan.clamp} {max(plan.clamp, int(high))}"

    def _of_policy(self, number: int) -> Iterable[tuple[Knob, str]]:
        plan, tree = self._plan, self._tree
        low, high = FrequencyLimit(tree, number, "min"), FrequencyLimit(tree, number, "max")
        limits: list[tuple[Knob, str]] = []
        if plan.max_frequency is not None:
            limits.append((high, high.value_of(plan.max_frequency)))
        if plan.min_frequency is not None:
            limits.append((low, low.value_of(plan.min_frequency)))
        # The lower limit must never be above the upper, so the one that makes room goes first.
        if len(limits) == 2 and int(limits[0][1]) < int(low.read()):
            limits.reverse()
        if plan.governor is not None:
            yield Governor(tree, number), plan.governor
        yield from limits

    def _wanted_held(self) -> Iterable[HeldKnob]:
        if self._plan.wake_latency_us is not None:
            yield WakeLatency(self._tree, self._plan.wake_latency_us)
        if self._plan.perflock is not None:
            # It ends by itself if this process is killed, where a duration is given.
            yield PerfLock(self._tree, self._plan.perflock, self._seconds or 0.0)

    def _turn(self, knob: Knob, value: str) -> None:
        there = knob.available()
        if not there.present:
            self._miss(knob.name, there.reason)
            return
        before = knob.read()
        self._journal.record(Entry(knob.name, before))
        knob.write(value)
        after = knob.read()
        # Drivers round frequencies to those they have; everything else is taken as it is or not at all.
        if after != value and not isinstance(knob, FrequencyLimit):
            raise ForbiddenError(
                f"{knob.name} is {after} right after {value} was written: something else sets it, "
                "a power daemon or firmware; stop that first"
            )
        self.report.turned.append(Turned(knob.name, before, after))

    def _hold(self, knob: HeldKnob) -> None:
        there = knob.available()
        if not there.present:
            self._miss(knob.name, there.reason)
            return
        self._held.append(knob)
        knob.acquire()
        self.report.held.append(knob.name)

    def _miss(self, knob: str, reason: str) -> None:
        self.report.absent.append(Absent(knob, reason))

    def _frequencies(self) -> Frequencies:
        return read_frequencies(sorted(read_topology(self._tree).online), self._tree)

    def _stop_on_time(self) -> None:
        try:
            self.stop()
        except CpuError as error:
            self._failure = error  # told to whoever waits or leaves the block

    def _end(self) -> None:
        with uninterrupted():
            self.report.during = self._frequencies()
            for held in reversed(self._held):
                held.release()
            try:
                _restore_own(self._journal, self._tree, self._scheduler)
            except CpuError as error:
                self._failure = error
            self.report.after = self._frequencies()
            self._journal.close()
            self._stopped.set()
            atexit.unregister(self.stop)
            if self._timer is not None:
                self._timer.cancel()

    def _raise_failure(self) -> None:
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure


def boost(
    seconds: float | None = None,
    *,
    plan: BoostPlan = FASTEST_PLAN,
    tree: KernelTree | None = None,
    scheduler: Scheduler | None = None,
    folder: Path | None = None,
) -> Boost:
    """Makes the machine fast for a while, at once; everything is put back afterwards.

        with cpu.boost():                                   # while the block runs
            ...
        boost = cpu.boost(5.0, plan=cpu.BoostPlan(turbo=True))   # for five seconds
        boost.stop()                                        # or less

    What was is written to a journal first. It is put back when the block ends, at exit, on Ctrl-C, and if the
    process is killed, when the next boost starts or by `restore_boost`.

    Args:
        seconds: For how long; None until it is stopped.
        plan: Which knobs; all of them by default. Those that this machine lacks are reported as absent.
        tree: The kernel's files.
        scheduler: The kernel's calls.
        folder: Where the journal is; the user's state folder by default.

    Raises:
        ForbiddenError: A knob refused; all are as they were.
        AbsentError: This machine has none of the knobs.
        CpuError: Another boost is active, or a value is wrong.
    """
    if seconds is not None and not 0 <= seconds <= threading.TIMEOUT_MAX:
        raise CpuError(f"a boost cannot last {seconds} s; leave it out to boost until it is stopped")
    made = Boost(
        plan, seconds, tree or KernelTree(), scheduler or KernelScheduler(), folder or state_folder()
    )
    return made.start()


def restore_boost(
    *, tree: KernelTree | None = None, scheduler: Scheduler | None = None, folder: Path | None = None
) -> tuple[Entry, ...]:
    """Puts back what a boost that was killed has left.

    Returns:
        What was put back; empty where nothing was left.

    Raises:
        CpuError: A boost is active, or a knob could not be put back; the journal keeps that one.
    """
    tree = tree or KernelTree()
    journal = Journal(folder or state_folder(), tree)
    journal.open()
    try:
        return _restore(journal, tree, scheduler or KernelScheduler())
    finally:
        journal.close()


def _restore(journal: Journal, tree: KernelTree, scheduler: Scheduler) -> tuple[Entry, ...]:
    entries = journal.left()
    with uninterrupted():
        return _put_back(entries, journal, tree, scheduler)


def _restore_own(journal: Journal, tree: KernelTree, scheduler: Scheduler) -> None:
    _put_back(journal.entries, journal, tree, scheduler)


def _put_back(
    entries: Iterable[Entry], journal: Journal, tree: KernelTree, scheduler: Scheduler
) -> tuple[Entry, ...]:
    """Last turned, first put back; what could not be stays in the journal."""
    done, failed = [], []
    failure: CpuError | None = None
    for entry in reversed(list(entries)):
        try:
            knob = find_knob(entry.knob, tree, scheduler)
            if knob.available().present:  # a thread may have ended, a CPU gone offline with its policy
                if knob.read() != entry.value:  # it may have refused to be turned, and would refuse again
                    knob.write(entry.value)
                done.append(entry)
        except CpuError as error:
            failed.append(entry)
            failure = error
    journal.replace(reversed(failed))
    if failure is not None:
        names = ", ".join(entry.knob for entry in failed)
        raise CpuError(
            f"not put back: {names}: {failure}; the journal keeps it: sudo unjank cpu boost --restore"
        ) from failure
    return tuple(done)
