"""Runs the benchmarks here and prints their ratios: `python -m benchmarks [NAME…] [--json FILE]`."""

import argparse
import importlib
import json
import pkgutil
import sys
from pathlib import Path
from typing import Any

import benchmarks
from benchmarks import _machine
from benchmarks._report import Report


def main() -> int:
    """Runs what was asked for, or everything; 2 for an unknown name."""
    available = [name for _, name, _ in pkgutil.iter_modules(benchmarks.__path__) if not name.startswith("_")]
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(available)}; all by default")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures and the machine's facts")
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(available)
    if unknown:
        parser.error(f"there is no benchmark {', '.join(sorted(unknown))}")
    machine = _machine.facts()
    print(f"{machine['cpu']}, {machine['cpus']} CPUs, load {machine['load_1min']:.1f}")
    reports = {name: _run(name) for name in arguments.names or available}
    if arguments.json:
        arguments.json.write_text(json.dumps(_document(machine, reports), indent=1) + "\n")
    return 0


def _run(name: str) -> Report:
    print(f"== {name}", flush=True)
    report: Report = importlib.import_module(f"benchmarks.{name}").run()
    for figure in report["results"]:
        print(f"  {figure['name']:<44} {figure['median']:>10.4g} {figure['unit']}")
    for ratio_name, ratio in report["ratios"].items():
        print(f"  {ratio_name:<44} {ratio['median']:>10.4g} x ({ratio['low']:.4g} to {ratio['high']:.4g})")
    return report


def _document(machine: dict[str, Any], reports: dict[str, Report]) -> dict[str, Any]:
    return {"schema": "unjank.benchmarks/1", "machine": machine, "benchmarks": reports}


if __name__ == "__main__":
    sys.exit(main())
