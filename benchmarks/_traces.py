"""Makes large traces from a real small one, by repeating it later and later in time."""

import os
from pathlib import Path
from typing import Any

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace

_PROJECT = Path(__file__).resolve().parents[1]
_GAP_NS = 1_000_000


def real_traces() -> Path:
    """The folder of real traces: $UNJANK_TRACES, else ../shared/data/traces beside the project."""
    return Path(os.environ.get("UNJANK_TRACES", _PROJECT.parent / "shared" / "data" / "traces"))


def repeat_trace(source: Path, target: Path, copies: int) -> int:
    """Writes `copies` of a trace one after the other in time; returns the number of bytes.

    Plain concatenation would not do: events of the same times would be sorted into each other, and slices
    would nest in ways that no recording shows.
    """
    trace = Trace.FromString(source.read_bytes())
    span, written = _span_ns(trace) + _GAP_NS, 0
    with target.open("wb") as file:
        for _ in range(copies):
            written += file.write(trace.SerializeToString())
            _drop_service_events(trace)
            for packet in trace.packet:
                _shift(packet, span)
    return written


def _drop_service_events(trace: Any) -> None:  # noqa: ANN401  a protobuf message
    """The engine throws away what comes before the last "tracing started", so only the first may stay."""
    kept = [packet for packet in trace.packet if not packet.HasField("service_event")]
    del trace.packet[:]
    trace.packet.extend(kept)


def _span_ns(trace: Any) -> int:  # noqa: ANN401  a protobuf message
    times = [
        event.timestamp
        for packet in trace.packet
        if packet.HasField("ftrace_events")
        for event in packet.ftrace_events.event
    ]
    return int(max(times) - min(times))


def _shift(packet: Any, by_ns: int) -> None:  # noqa: ANN401  a protobuf message
    if packet.HasField("timestamp"):
        packet.timestamp += by_ns
    if packet.HasField("ftrace_events"):
        _shift_ftrace(packet.ftrace_events, by_ns)
    if packet.HasField("clock_snapshot"):
        for clock in packet.clock_snapshot.clocks:
            clock.timestamp += by_ns


def _shift_ftrace(bundle: Any, by_ns: int) -> None:  # noqa: ANN401  a protobuf message
    for event in bundle.event:
        event.timestamp += by_ns
    # The first of each compact list is absolute, the others are differences.
    for times in (bundle.compact_sched.switch_timestamp, bundle.compact_sched.waking_timestamp):
        if times:
            times[0] += by_ns
    for field in ("ftrace_timestamp", "boot_timestamp", "last_read_event_timestamp"):
        if bundle.HasField(field):
            setattr(bundle, field, getattr(bundle, field) + by_ns)
