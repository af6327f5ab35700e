"""A benchmark's JSON form, schema `unjank.bench/1`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TextIO

from unjank._json_file import write_json
from unjank.bench._machine import machine_warnings
from unjank.bench._majority import most_often
from unjank.bench._report import Report
from unjank.bench._run import Scale

SCHEMA = "unjank.bench/1"


def document(benchmark: str, report: Report, machine: Mapping[str, Any], scale: Scale) -> dict[str, Any]:
    """Makes the JSON object.

    Args:
        benchmark: Its name on the command line.
        report: What was measured.
        machine: What `machine_facts()` said before the start.
        scale: How much was measured.
    """
    return {
        "schema": SCHEMA,
        "benchmark": benchmark,
        "machine": dict(machine),
        "scale": {"repeats": scale.repeats, "divisor": scale.divisor},
        "warnings": [*_scale_warnings(scale), *_refusal_warnings(report), *machine_warnings(machine)],
        "results": report.results,
        "ratios": {name: ratio.to_dict(judged=scale.divisor == 1) for name, ratio in report.ratios.items()},
        "absent": report.absent,
    }


def _scale_warnings(scale: Scale) -> list[str]:
    if scale.divisor == 1:
        return []
    return [f"counts were divided by {scale.divisor}: the figures only show that the benchmark works"]


def _refusal_warnings(report: Report) -> list[str]:
    if not report.refusals:
        return []
    return [
        f"{len(report.refusals)} of {report.repetitions} repetitions do not count, most of them as: "
        f"{most_often(report.refusals)}"
    ]


def write_document(content: Mapping[str, Any], target: Path | TextIO) -> None:
    """Writes it to a file or an open stream, as ASCII.

    Raises:
        UnjankError: The file cannot be written.
    """
    write_json(content, target, indent=1)
