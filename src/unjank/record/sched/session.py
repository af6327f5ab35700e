"""One recording of the machine's scheduling: tracefs instance and native reader, from start to stop."""

import os
import weakref
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from unjank import _ftrace
from unjank._errors import RecordError, SchedulingUnavailableError
from unjank.record.sched.tracefs import TracefsInstance, find_tracefs, mount_tracefs, remove_stale_instances

SEQUENCE_ID = 0x46545243
"""`trusted_packet_sequence_id` of the packets written here: "FTRC", far from those counted up from 1."""

READ_INTERVAL_MS = 250
WAKE_PERCENT = 12

_MIB_PER_CPU = 16
"""A switch with its wake-up takes about 110 bytes: at 200,000 a second on one CPU, 0.7 s without a read."""
_MEMORY_SHARE = 16
"""All rings together take at most this fraction of the memory that is free."""
_LEAST_KB = 512


@dataclass(frozen=True)
class FtraceStats:
    """What a session recorded.

    Attributes:
        events: Events in the trace.
        lost_events: Events the kernel overwrote before they were read; the trace marks where they belong.
        inferred_switches: Switches out of an idle thread that the kernel did not report, as in some virtual
            machines; they are in the trace from the moment the next thread was woken.
        missing_switches: Switches that were not reported and could not be inferred.
        malformed_pages: Pages of the ring that contradicted the kernel's own formats.
        bytes: Bytes appended to the trace.
        sink_failed: Whether the file took no more at some point; later events are missing.
        instance_left: The tracefs instance if the kernel refused to remove it; the next session tries again.
    """

    events: int
    lost_events: int
    inferred_switches: int
    missing_switches: int
    malformed_pages: int
    bytes: int
    sink_failed: bool
    instance_left: Path | None


class FtraceSession:
    """Records all switches and wake-ups on the machine into a trace file, in a native thread.

    It belongs into a process that outlives the program that is watched. In the program itself it works as
    long as that ends in an orderly way; otherwise the next session removes what it left.

        with FtraceSession(Path("out.pftrace")) as session:
            ...
        print(session.stats)
    """

    def __init__(
        self,
        target: Path,
        shared_fd: int | None = None,
        *,
        ring_kb: int | None = None,
        root: Path = Path("/"),
        sequence_id: int = SEQUENCE_ID,
    ) -> None:
        """Nothing happens yet.

        Args:
            target: The trace file.
            shared_fd: State shared by the writers of that file, from its creator, to append next to them.
                None creates the file.
            ring_kb: Size of the kernel's ring per CPU; None takes what this machine can afford.
            root: Prefix of `/proc` and of the tracefs mount, for tests.
            sequence_id: Packet sequence of this writer; no other writer of the file may use it.
        """
        self._target = target
        self._shared_fd = shared_fd
        self._ring_kb = ring_kb
        self._root = root
        self._sequence_id = sequence_id
        self._instance: TracefsInstance | None = None
        self._reader: _ftrace.Reader | None = None
        self._stats: FtraceStats | None = None

    @property
    def stats(self) -> FtraceStats:
        """What was recorded; known once the session has stopped."""
        if self._stats is None:
            raise RecordError("the scheduling session has not stopped yet; read its stats after stop()")
        return self._stats

    def start(self) -> None:
        """Makes the instance, starts the reader, then the events.

        Raises:
            SchedulingUnavailableError: tracefs is missing or refuses; `levels.probe` tells more.
            RecordError: The session was started before.
        """
        if self._instance is not None or self._stats is not None:
            raise RecordError("a scheduling session starts only once; make another one")
        try:
            self._start()
        except BaseException as error:
            self._remove_instance()
            if not isinstance(error, OSError | RuntimeError):
                raise
            raise SchedulingUnavailableError(
                f"the kernel's scheduling cannot be recorded: {error}; `unjank doctor` says what would help"
            ) from error

    def _start(self) -> None:
        tracefs = self._find_tracefs()
        remove_stale_instances(tracefs, self._root / "proc")
        self._instance = TracefsInstance.create(tracefs, os.getpid())
        ring_kb = self._ring_kb or affordable_ring_kb(self._root)
        self._instance.configure(_ftrace.event_names(), ring_kb, WAKE_PERCENT)
        self._reader = _ftrace.Reader(
            str(self._target),
            self._shared_fd,
            tracefs=str(tracefs),
            instance=str(self._instance.path),
            proc=str(self._root / "proc"),
            sequence_id=self._sequence_id,
            interval_ms=READ_INTERVAL_MS,
        )
        self._reader.start()
        _abandon_after_fork(self._reader)
        self._instance.switch(on=True)

    def _find_tracefs(self) -> Path:
        if find_tracefs(self._root) is None and self._root == Path("/"):
            mount_tracefs()
        mount = find_tracefs(self._root)
        if mount is None:
            raise FileNotFoundError("tracefs is not mounted")
        return mount.path

    def stop(self) -> FtraceStats:
        """Stops the events, writes what is left, removes the instance. A second call answers the same."""
        if self._stats is None:
            if self._instance is None or self._reader is None:
                raise RecordError("the scheduling session was not started; call start() before stop()")
            try:
                self._instance.switch(on=False)
            finally:
                report = self._reader.stop()
                left = self._remove_instance()
            self._stats = FtraceStats(
                events=report.events,
                lost_events=report.lost_events,
                inferred_switches=report.inferred_switches,
                missing_switches=report.missing_switches,
                malformed_pages=report.malformed_pages,
                bytes=report.bytes,
                sink_failed=report.sink_failed,
                instance_left=left,
            )
        return self._stats

    def _remove_instance(self) -> Path | None:
        instance, self._instance, self._reader = self._instance, None, None
        return instance.path if instance is not None and not instance.remove() else None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()


def affordable_ring_kb(root: Path = Path("/")) -> int:
    """Ring size per CPU in KiB: enough not to lose events under load, little against the free memory."""
    wanted = _MIB_PER_CPU * 1024
    available = _memory_available_kb(root)
    if available is None:
        return wanted
    cpus = os.cpu_count() or 1
    return max(_LEAST_KB, min(wanted, available // _MEMORY_SHARE // cpus))


def _memory_available_kb(root: Path) -> int | None:
    try:
        lines = (root / "proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")), None)


def _abandon_after_fork(reader: _ftrace.Reader) -> None:
    # Open buffers in a forked child would keep the kernel from removing the instance.
    reference = weakref.ref(reader)

    def abandon() -> None:
        if (inherited := reference()) is not None:
            inherited.abandon_in_child()

    os.register_at_fork(after_in_child=abandon)
