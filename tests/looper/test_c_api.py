"""The C header: an extension that posts from a thread which never has the GIL."""

import importlib.util
import os
import subprocess
import sysconfig
from pathlib import Path
from types import ModuleType

import pytest

from unjank import Handler, HandlerThread
from unjank.looper import LooperDriver, get_include

POSTS = 5_000


@pytest.fixture
def producer(tmp_path: Path) -> ModuleType:
    """The extension, compiled and loaded; its counters begin at 0."""
    library = tmp_path / f"producer{sysconfig.get_config_var('EXT_SUFFIX')}"
    includes = [f"-I{folder}" for folder in (get_include(), sysconfig.get_path("include"))]
    compiler = os.environ.get("CC", "cc")
    source = Path(__file__).with_name("producer.c")
    subprocess.run(
        [
            compiler,
            "-shared",
            "-fPIC",
            "-O1",
            "-Wall",
            "-Wextra",
            "-Werror",
            *includes,
            source,
            "-o",
            library,
            "-pthread",
        ],
        check=True,
    )
    spec = importlib.util.spec_from_file_location("producer", library)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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
