"""Traces of a few events, made for these tests."""

import os
from collections.abc import Iterable
from pathlib import Path

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent

# A query that never ends on a trace with a slice of this name, and ends at once on others.
ENDLESS = "endless"
COUNT_OR_SPIN = f"""
WITH RECURSIVE spin(n) AS (
  SELECT 1 UNION ALL
  SELECT n + 1 FROM spin
  WHERE n < (SELECT IIF(EXISTS(SELECT 1 FROM slice WHERE name = '{ENDLESS}'), 1e18, 2))
)
SELECT (SELECT COUNT(*) FROM slice) AS slices, MAX(n) AS spins FROM spin
"""
SLICES = "SELECT name, dur FROM slice ORDER BY id"


def trace_bytes(names: Iterable[str]) -> bytes:
    """A trace with a slice for each name, 1 ms long, one after the other on one track."""
    trace = Trace()
    track = trace.packet.add(trusted_packet_sequence_id=1, timestamp=0)
    track.track_descriptor.uuid = 7
    track.track_descriptor.name = "track"
    for index, name in enumerate(names):
        for kind, at in ((TrackEvent.TYPE_SLICE_BEGIN, 0), (TrackEvent.TYPE_SLICE_END, 1)):
            packet = trace.packet.add(trusted_packet_sequence_id=1, timestamp=(index + at) * 1_000_000)
            packet.track_event.type = kind
            packet.track_event.track_uuid = 7
            if kind == TrackEvent.TYPE_SLICE_BEGIN:
                packet.track_event.name = name
    return bytes(trace.SerializeToString())


def write_traces(folder: Path, count: int) -> list[str]:
    """Writes traces `t00.pftrace` …, of which the one with number N has N slices; returns their names."""
    folder.mkdir(exist_ok=True)
    names = []
    for number in range(count):
        path = folder / f"t{number:02}.pftrace"
        path.write_bytes(trace_bytes([f"slice {index}" for index in range(number)]))
        names.append(os.fspath(path))
    return names
