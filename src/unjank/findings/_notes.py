"""Notes: what the trace could not tell and why, so that an empty report is never mistaken for a clean one."""

from collections.abc import Iterator

from unjank.findings._evidence import Evidence
from unjank.findings._recording import Recording, read_dropped
from unjank.findings._sentences import listed
from unjank.findings._units import format_duration

_ART_LOCK_SQL = """
SELECT COUNT() AS waits, MAX(s.dur) AS longest FROM slice s
LEFT JOIN slice p ON s.parent_id = p.id
WHERE s.name GLOB 'Lock contention on *' AND (p.name IS NULL OR p.name NOT GLOB 'monitor contention with*')
"""
_MOST_LISTED = 5


def take_notes(evidence: Evidence) -> Iterator[str]:
    """Yields sentences on what the trace lacks, what was lost, and how to get it next time."""
    yield from _on_recordings(evidence)
    yield from _on_drops(evidence)
    yield from _on_contention(evidence)
    yield from _on_scheduling(evidence)
    yield from _on_others(evidence)


def _on_recordings(evidence: Evidence) -> Iterator[str]:
    for recording in evidence.recordings:
        if not recording.ended:
            yield (
                f"The recording of {recording.process} has no end: the program was killed, crashed, or was "
                "still running. What was written up to then is here."
            )


def _on_drops(evidence: Evidence) -> Iterator[str]:
    dropped = read_dropped(evidence.tp)
    if not dropped:
        return
    shares = [f"{evidence.threads[utid].name} {count}" for utid, count in dropped.items()]
    more = ", …" if len(shares) > _MOST_LISTED else ""
    yield (
        f"The recorder dropped {sum(dropped.values())} events ({', '.join(shares[:_MOST_LISTED])}{more}): "
        "they came faster than they could be written, so counts and sums are too low."
    )


def _on_contention(evidence: Evidence) -> Iterator[str]:
    waits = evidence.contentions
    if not waits:
        yield _nothing_found(evidence)
    lost = sum(wait.owner is None for wait in waits)
    if lost:
        yield (
            f"For {lost} of {len(waits)} waits the trace does not tell for certain which thread was the "
            "owner; what it did meanwhile is not known."
        )
    unfinished = sum(wait.is_open for wait in waits)
    if unfinished:
        yield f"{unfinished} of {len(waits)} waits had not ended with the trace; they count up to its end."
    logged = sum(wait.is_logged for wait in waits)
    if logged:
        yield (
            f"{logged} of {len(waits)} waits are told by logcat alone, which has only long ones and a sample "
            "of the others, to the millisecond: counts and sums are too low. Record the atrace category "
            "dalvik to have all of them."
        )
    yield from _on_art_locks(evidence)


def _on_art_locks(evidence: Evidence) -> Iterator[str]:
    (row,) = evidence.tp.query(_ART_LOCK_SQL)
    if row.waits:
        yield (
            f"{row.waits} waits for locks inside the Android runtime itself are left out; "
            f"the longest took {format_duration(max(row.longest or 0, 0))}."
        )


def _nothing_found(evidence: Evidence) -> str:
    if evidence.recordings:
        return "No thread had to wait for a lock of another one while this was recorded."
    return (
        "The trace has no lock contention slices: nothing is known about locks. Record Android with the "
        "atrace categories dalvik and sched, a Python program with 'unjank run'."
    )


def _on_others(evidence: Evidence) -> Iterator[str]:
    if evidence.elsewhere:
        names = listed([name for name, _ in evidence.elsewhere.most_common()], _MOST_LISTED)
        yield (
            f"Threads of other programs on the machine ({names}) switched or woke each other very often "
            "meanwhile; they are left out."
        )


def _on_scheduling(evidence: Evidence) -> Iterator[str]:
    if evidence.scheduling.is_recorded:
        return
    if not evidence.recordings:
        yield (
            "The trace has no scheduling: whether owners were kept off the CPU is not known. "
            "Record with the ftrace events sched/sched_switch and sched/sched_waking."
        )
    # Forked processes share the session's way of recording: each way is told once.
    yield from dict.fromkeys(map(_on_lacking_scheduling, evidence.recordings))


def _on_lacking_scheduling(recording: Recording) -> str:
    reason = f" ({recording.sched_reason})" if recording.sched_reason else ""
    if recording.sched == "procfs":
        return (
            f"Of the scheduling only the owners' run and waiting times were recorded{reason}: "
            "who had the CPU meanwhile is not known. 'unjank doctor' says what would allow more."
        )
    if recording.sched == "ftrace":
        return (
            f"The kernel's scheduling was asked for but none arrived{reason}: whether owners were kept off "
            "the CPU is not known."
        )
    return (
        f"Scheduling was not recorded{reason}: whether owners were kept off the CPU is not known. "
        "'unjank run --sched auto' records what the machine allows."
    )
