"""Measurements, each as ratios within one run, with the machine's facts. `python -m benchmarks` runs them.

A module here that has `run() -> Report` is a benchmark; names with an underscore are helpers.
"""
