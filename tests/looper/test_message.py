"""Messages: their fields, their identity, their reuse."""

import threading

import pytest

from unjank import Handler, HandlerThread, Message
from unjank.looper import LooperDriver


class Keeper(Handler):
    """Keeps what it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[Message] = []

    def handle_message(self, message: Message) -> None:
        """Keeps the message."""
        self.kept.append(message)


def test_sent_values_arrive(driver: LooperDriver) -> None:
    """All fields of send(), with the due time and the handler."""
    handler, obj, token = Keeper(), object(), object()
    data = {"key": 1}
    handler.send(3, -4, 5, obj, data=data, delay=2, token=token)
    driver.advance(2)
    (message,) = handler.kept
    assert (message.what, message.arg1, message.arg2, message.when) == (3, -4, 5, 2.0)
    assert (message.obj, message.token, message.target) == (obj, token, handler)
    assert message.data is data


def test_a_message_object_arrives_as_itself(driver: LooperDriver) -> None:
    """send_message() delivers the object it was given, subclass and attributes included."""

    class Frame(Message):
        extra = ""

    handler = Keeper()
    frame = Frame(1)
    frame.extra = "kept"
    handler.send_message(frame)
    handler.send_message(frame, delay=1)
    driver.advance(1)
    assert [message is frame for message in handler.kept] == [True, True]
    assert frame.when == 1.0


def test_a_message_callback_runs_instead_of_handle_message(driver: LooperDriver) -> None:
    """And can be removed as a callback and as a message."""
    log: list[int] = []
    handler = Keeper()

    def callback() -> None:
        log.append(1)

    for _ in range(3):
        handler.send_message(Message(9, callback=callback))
    assert handler.has_callbacks(callback)
    assert handler.has_messages(9)
    driver.step()
    assert handler.remove_messages(9) == 2
    handler.send_message_at_front(Message(9, callback=log.clear))
    assert handler.remove_callbacks(log.clear) == 1
    assert (log, handler.kept) == ([1], [])


def test_kept_messages_are_not_reused(driver: LooperDriver) -> None:
    """A message that the handler keeps stays as it was."""
    handler = Keeper()
    for what in range(5):
        handler.send(what, obj=[what])
    driver.run_until_idle()
    assert [(m.what, m.obj) for m in handler.kept] == [(n, [n]) for n in range(5)]


def test_messages_nobody_keeps_are_reused_empty(driver: LooperDriver) -> None:
    """The second delivery brings the same object, without a trace of the first."""
    seen: list[tuple[int, object, object]] = []

    class Looker(Handler):
        def handle_message(self, message: Message) -> None:
            seen.append((id(message), message.obj, message.data))

    handler = Looker()
    handler.send(1, obj=[1], data={"a": 1})
    handler.send(2)
    driver.run_until_idle()
    assert seen[0][0] == seen[1][0]
    assert seen[1][1:] == (None, None)


def test_obtain_and_recycle() -> None:
    """obtain() fills the fields, recycle() empties them."""
    message = Message.obtain(1, 2, 3, "obj", data={}, token="token", asynchronous=True)
    assert (message.what, message.arg1, message.arg2, message.obj) == (1, 2, 3, "obj")
    assert "obj='obj'" in repr(message)
    message.recycle()
    assert (message.what, message.obj, message.token, message.asynchronous) == (0, None, None, False)


def test_one_message_object_may_be_obtained_from_a_handler(driver: LooperDriver) -> None:
    """obtain_message() is Message() with the usual fields."""
    message = Handler(driver.looper).obtain_message(4, obj="x", data={"k": 2})
    assert (message.what, message.obj, message.data) == (4, "x", {"k": 2})


@pytest.mark.parametrize("what", [2**63 - 1, -(2**63) + 1])
def test_codes_take_64_bits(driver: LooperDriver, what: int) -> None:
    """The whole range, but for the smallest number."""
    handler = Keeper()
    handler.send(what, what, what)
    driver.run_until_idle()
    assert (handler.kept[0].what, handler.kept[0].arg1, handler.kept[0].arg2) == (what,) * 3


def test_changing_a_message_while_others_send_it_is_safe(ui: HandlerThread) -> None:
    """Each send takes what the message refers to at that moment; nothing is freed under it."""
    message, ended = Message(1, obj=[0]), threading.Event()
    handler = Handler(ui.looper)

    def change() -> None:
        number = 0
        while not ended.is_set():
            number += 1
            message.obj, message.token = [number], [number]
            message.callback = [].clear if number % 2 else None

    thread = threading.Thread(target=change)
    thread.start()
    assert all(handler.send_message(message) for _ in range(5_000))
    ended.set()
    thread.join()
    assert handler.run_with_scissors(lambda: None)
