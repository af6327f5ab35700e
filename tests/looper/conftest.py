"""Every test that takes `queue` runs on both queues: the same body, the same answers."""

from collections.abc import Iterator

import pytest

from unjank.looper import HandlerThread, Looper, LooperDriver
from unjank.looper._looper_class import QueueName


@pytest.fixture(params=["lockfree", "locked"])
def queue(request: pytest.FixtureRequest) -> QueueName:
    """Which queue the looper has."""
    name: QueueName = request.param
    return name


@pytest.fixture
def driver(queue: QueueName) -> Iterator[LooperDriver]:
    """A looper on this thread, driven by hand, with a virtual clock at 0."""
    with LooperDriver(queue=queue) as driver:
        yield driver


@pytest.fixture
def real_driver(queue: QueueName) -> Iterator[LooperDriver]:
    """A looper on this thread, driven by hand, with the real clock."""
    looper = Looper.prepare(queue)
    with LooperDriver(looper) as driver:
        yield driver
    looper._shut_down()


@pytest.fixture
def ui(queue: QueueName) -> Iterator[HandlerThread]:
    """A running looper thread."""
    with HandlerThread("ui", queue=queue) as thread:
        yield thread
