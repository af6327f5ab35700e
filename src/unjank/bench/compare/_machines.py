"""Whether two runs can be compared at all: what of their circumstances differs."""

from collections.abc import Iterator

from unjank.bench._statistics import FEWEST
from unjank.bench.compare._load import Loaded, printable

_FACTS = (
    "cpu",
    "cpus",
    "memory_bytes",
    "kernel",
    "architecture",
    "governor",
    "clocksource",
    "virtual",
    "python",
    "gil",
)


def differences(before: Loaded, after: Loaded) -> dict[str, list[object]]:
    """Facts that differ, with both values; of packages each by its name."""
    found: dict[str, list[object]] = {}
    for name in _FACTS:
        pair: list[object] = [loaded.machine.get(name) for loaded in (before, after)]
        if pair[0] != pair[1]:
            found[name] = pair
    packages = [loaded.machine.get("packages") for loaded in (before, after)]
    ours, theirs = (about if isinstance(about, dict) else {} for about in packages)
    for name in sorted({*ours, *theirs}, key=str):
        if ours.get(name) != theirs.get(name):
            found[f"package {name}"] = [ours.get(name), theirs.get(name)]
    return found


def doubts(before: Loaded, after: Loaded) -> Iterator[str]:
    """What makes the comparison doubtful, in words."""
    for name, (was, now) in differences(before, after).items():
        yield printable(f"{name} differs: {was} and {now}; the change may come from that")
    for loaded in (before, after):
        if loaded.divisor != 1:
            yield f"{loaded.path} is a quick run: its figures only show that the benchmark works"
        elif loaded.repeats < FEWEST:
            yield (
                f"{loaded.path} has {loaded.repeats} repetitions, and chance alone moves the range of so "
                f"few; measure again with --repeats {FEWEST} or more"
            )
        during = loaded.machine.get("during")
        others = during.get("others_cpus") if isinstance(during, dict) else None
        if isinstance(others, int | float) and others > 0.1:
            yield f"noisy neighbour: others kept {others:.1f} CPUs busy while {loaded.path} was measured"
