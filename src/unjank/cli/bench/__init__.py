"""`unjank bench`: measurements of this machine and of what unjank builds on.

Layout: one command per file; `_main` collects them, `_options` has what they share, `_measure` runs one and
writes its figures.
"""

from unjank.cli.bench._main import bench

__all__ = ["bench"]
