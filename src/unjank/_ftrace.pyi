"""The kernel's scheduling events into a trace file, by a native thread that never needs the GIL."""

class Report:
    """What a reader did, counted from start to stop."""

    @property
    def events(self) -> int:
        """Events written."""
    @property
    def lost_events(self) -> int:
        """Events that the kernel overwrote or dropped before they were read."""
    @property
    def skipped_records(self) -> int:
        """Records of a type that was not asked for, or shorter than their format."""
    @property
    def inferred_switches(self) -> int:
        """Switches out of an idle thread that the kernel did not report, told from the wake-up before."""
    @property
    def missing_switches(self) -> int:
        """Switches that were not reported and could not be inferred."""
    @property
    def malformed_pages(self) -> int:
        """Pages that contradicted their layout; what came before the flaw is written."""
    @property
    def packets(self) -> int:
        """FtraceEventBundle packets written."""
    @property
    def bytes(self) -> int:
        """Bytes written."""
    @property
    def sink_failed(self) -> bool:
        """Whether the file took no more at some point; later events are missing."""

class Reader:
    """Drains a tracefs instance's per-CPU ring buffers into a trace file."""

    def __new__(
        cls,
        path: str,
        shared_fd: int | None,
        *,
        tracefs: str,
        instance: str,
        proc: str,
        sequence_id: int,
        interval_ms: int,
    ) -> Reader:
        """Opens file, formats and buffers; nothing runs yet.

        Args:
            path: The trace file.
            shared_fd: Shared state of the file's creator, to append next to it; None creates the file.
            tracefs: Where tracefs is mounted, for the formats.
            instance: Folder of the instance to read.
            proc: Usually `/proc`.
            sequence_id: `trusted_packet_sequence_id` of all packets written.
            interval_ms: At the latest after this time the rings are read, however little they hold.

        Raises:
            RuntimeError: The file, a format or a buffer cannot be opened or understood; one line of cause.
        """

    def start(self) -> None:
        """Starts the thread."""

    def stop(self) -> Report:
        """Ends the thread after a last drain and closes the buffers. A second call answers the same."""

    def abandon_in_child(self) -> None:
        """After fork, in the child: gives up the inherited buffers and the thread that is not there."""

def event_names() -> list[str]:
    """The events to enable, as `group/name`."""
