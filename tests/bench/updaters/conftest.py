"""Fixtures for the measurements of updaters."""

from pathlib import Path

import pytest
from tests.jvm.real import corpus


@pytest.fixture(scope="session")
def kernel_jars() -> list[Path]:
    """Jars with kotlinx.coroutines and the Kotlin library."""
    return corpus.kernel_jars()
