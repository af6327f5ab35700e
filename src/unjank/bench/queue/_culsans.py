"""culsans, a peer that is compared with where it is installed."""

import importlib
import importlib.util
from collections.abc import Callable
from typing import Any

CULSANS_MISSING = "culsans is not installed; pip install 'unjank[bench]'"


def culsans_queue(kind: str) -> Callable[[], Any] | None:
    """A factory of the synchronous side of its `Queue` or `PriorityQueue`; None if it is not installed."""
    if importlib.util.find_spec("culsans") is None:
        return None
    make = getattr(importlib.import_module("culsans"), kind)
    return lambda: make().sync_q
