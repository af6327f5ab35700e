"""What `unjank.bench` collected, as a benchmark here returns it."""

from benchmarks._report import Report
from unjank.bench import Report as Collected


def as_report(collected: Collected) -> Report:
    """Results and ratios; what is absent is printed with its reason."""
    for item in collected.absent:
        print(f"  {item['name']} is not measured: {item['reason']}")
    ratios = {name: ratio.interval for name, ratio in collected.ratios.items()}
    return {
        "results": collected.results,
        "ratios": {
            name: {"median": found.median, "low": found.low, "high": found.high}
            for name, found in ratios.items()
        },
    }
