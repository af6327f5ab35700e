"""The C header: an extension that posts from a thread which never has the GIL."""

from pathlib import Path
from types import ModuleType

import pytest
from tests.looper.extension import load_extension

from unjank import Handler, HandlerThread
from unjank.looper import LooperDriver

POSTS = 5_000


@pytest.fixture
def producer(tmp_path: Path) -> ModuleType:
    """The extension, compiled and loaded; its counters begin at 0."""
    return load_extension("producer.c", tmp_path)


def test_c_threads_post_without_the_gil(ui: HandlerThread, producer: ModuleType) -> None:
    """Each accepted function runs on the looper's thread."""
    assert producer.produce(ui.looper, POSTS, 0) == POSTS
    Handler(ui.looper).run_with_scissors(lambda: None)
    assert producer.counts() == (POSTS, 0)


def test_c_posts_can_be_removed_and_are_dropped_at_quit(driver: LooperDriver, producer: ModuleType) -> None:
    """Their drop function is called once each; handlers' removals never see them."""
    handler = Handler()
    assert producer.produce(driver.looper, 10, 10**9) == 10
    assert handler.remove_all(None) == 0
    assert producer.remove(driver.looper) == 10
    assert producer.counts() == (0, 10)
    producer.produce(driver.looper, 5, -1)
    driver.looper.quit()
    driver.step()
    assert producer.counts() == (0, 15)
    assert producer.produce(driver.looper, 3, 0) == 0
    assert producer.counts() == (0, 15)


def test_exceptions_of_c_functions_go_to_the_hook(driver: LooperDriver, producer: ModuleType) -> None:
    """As those of callbacks do."""
    producer.raise_on(driver.looper)
    with pytest.raises(ValueError, match="raised by C"):
        driver.step()


def test_the_header_wants_a_looper(producer: ModuleType) -> None:
    """Anything else is a TypeError."""
    with pytest.raises(TypeError, match="needs a Looper, not int"):
        producer.produce(3, 1, 0)
