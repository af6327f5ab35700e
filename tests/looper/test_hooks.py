"""What loopers tell a recorder, through a recorder that only keeps it."""

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from tests.looper.extension import load_extension

from unjank import Handler, HandlerThread, Message
from unjank.looper import LooperDriver

Told = tuple[str, int, int, int, int, str, int]


@pytest.fixture
def listener(tmp_path: Path) -> Iterator[ModuleType]:
    """Installed for the test."""
    module = load_extension("listener.cpp", tmp_path)
    module.install(True)
    yield module
    module.install(False)
    module.take()


def callback() -> None:
    """Something with a name."""


def test_posts_and_dispatches_are_told_with_one_flow(driver: LooperDriver, listener: ModuleType) -> None:
    """A post, its dispatch, its end: the same number, due time and name."""
    handler = Handler()
    handler.post_delayed(callback, 2)
    driver.advance(2)
    told: list[Told] = listener.take()
    assert [t[0] for t in told] == ["posted", "dispatching", "dispatched"]
    assert len({t[1:6] for t in told}) == 1
    assert told[0][3:6] == (2 * 10**9, 0, "callback")


def test_flows_differ(driver: LooperDriver, listener: ModuleType) -> None:
    """Also for messages that reuse a node."""
    handler = Handler()
    for _ in range(3):
        for _ in range(100):
            handler.post(callback)
        driver.run_until_idle()
    told: list[Told] = listener.take()
    assert len({t[2] for t in told if t[0] == "posted"}) == 300
    assert [t[2] for t in told if t[0] == "posted"] == [t[2] for t in told if t[0] == "dispatching"]


@pytest.mark.parametrize(
    ("what", "name"), [(7, ""), (0, "callback")], ids=["message", "message with callback"]
)
def test_messages_are_told_by_code_or_callback(
    driver: LooperDriver, listener: ModuleType, what: int, name: str
) -> None:
    """The code of what a handler handles, the name of what is called."""
    handler = Handler()
    handler.send_message(Message(7, callback=callback if name else None))
    driver.run_until_idle()
    assert [t[4:6] for t in listener.take()] == [(what, name)] * 3


def test_refused_and_removed_messages_are_not_dispatched(driver: LooperDriver, listener: ModuleType) -> None:
    """A refused post is not told; a removed message as posted and removed."""
    handler = Handler()
    handler.post(callback)
    handler.remove_all(None)
    driver.looper.quit()
    handler.post(callback)
    driver.step()
    assert [t[0] for t in listener.take()] == ["posted", "removed"]


def test_the_backlog_counts_what_is_behind(driver: LooperDriver, listener: ModuleType) -> None:
    """Without the message that is dispatched."""
    handler = Handler()
    for _ in range(3):
        handler.post(callback)
    driver.run_until_idle()
    assert [t[6] for t in listener.take() if t[0] == "dispatching"] == [2, 1, 0]


def test_the_rest_is_counted_at_each_removal(driver: LooperDriver, listener: ModuleType) -> None:
    """Messages removed, cancelled, or dropped with the looper leave the length of the queue that is left."""
    handler = Handler()
    later = handler.schedule(callback, 9)
    for _ in range(3):
        handler.post(print)
    for _ in range(2):
        handler.post_delayed(len, 9)
    handler.remove_callbacks(print)
    later.cancel()
    driver.looper._shut_down()
    assert [t[6] for t in listener.take() if t[0] == "removed"] == [3, 2, 0]


def test_removals_from_c_are_told(driver: LooperDriver, listener: ModuleType, tmp_path: Path) -> None:
    """As those of handlers are."""
    producer = load_extension("producer.c", tmp_path)
    Handler().post(callback)
    producer.produce(driver.looper, 3, 10**9)
    assert producer.remove(driver.looper) == 3
    assert [t[6] for t in listener.take() if t[0] == "removed"] == [1]


def test_the_end_is_told_though_the_callback_leaves_the_loop(
    driver: LooperDriver, listener: ModuleType
) -> None:
    """An interrupt passes the recorder by."""

    def interrupt() -> None:
        raise KeyboardInterrupt

    Handler().post(interrupt)
    with pytest.raises(KeyboardInterrupt):
        driver.step()
    assert [t[0] for t in listener.take()] == ["posted", "dispatching", "dispatched"]


def test_nothing_is_told_after_the_recorder_left(driver: LooperDriver, listener: ModuleType) -> None:
    """And the switch says who was there."""
    assert listener.install(False) is True
    assert listener.install(False) is False
    Handler().post(callback)
    driver.run_until_idle()
    assert listener.take() == []


def test_c_posts_are_told_too(ui: HandlerThread, listener: ModuleType, tmp_path: Path) -> None:
    """From threads without the GIL; they have no handler."""
    producer = load_extension("producer.c", tmp_path)
    assert producer.produce(ui.looper, 10, 0) == 10
    Handler(ui.looper).run_with_scissors(lambda: None)
    told: list[Told] = listener.take()
    assert sum(t[0] == "posted" for t in told) >= 11
    assert {t[2] for t in told if t[0] == "dispatching"} <= {t[2] for t in told if t[0] == "posted"}
