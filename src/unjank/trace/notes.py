"""What a user should know about a trace that loaded, but not quite whole."""

from collections.abc import Iterable

from unjank.trace.framing import PacketFraming
from unjank.trace.rows import Row

# Statistics that the engine marks as lost data or errors; those of the recording's own set-up come first.
STATS_SQL = """
SELECT name, severity, SUM(value) AS value, description
FROM stats
WHERE severity IN ('data_loss', 'error') AND value > 0
GROUP BY name
ORDER BY severity, name
"""


# What the engine's name for it does not tell a user.
_IN_WORDS = {
    "mismatched_sched_switch_tids": (
        "the kernel left out {value} switch{es}, as of threads it hides from tracing; "
        "who ran, and for how long, is uncertain there"
    ),
}


def cut_off_note(framing: PacketFraming) -> list[str]:
    """A note where a protobuf trace ends inside a packet."""
    if not framing.cut_off:
        return []
    return [
        f"the trace is cut off in the middle of a packet; the {framing.packets} packets before it are shown"
    ]


def stats_notes(rows: Iterable[Row]) -> list[str]:
    """A note per statistic of lost or unreadable data; `rows` as STATS_SQL gives them."""
    kind = {"data_loss": "data lost", "error": "error while recording or reading"}
    notes = []
    for row in rows:
        if words := _IN_WORDS.get(str(row["name"])):
            notes.append(words.format(value=row["value"], es="" if row["value"] == 1 else "es"))
            continue
        text = f"{kind[str(row['severity'])]}: {row['name']!s} = {row['value']!s}"
        description = " ".join(str(row["description"] or "").split())
        notes.append(f"{text} ({description})" if description else text)
    return notes
