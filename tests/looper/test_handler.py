"""What a handler's posts and removals mean: the points that imitations of it got wrong, among others."""

import math
from collections.abc import Callable

import pytest

from unjank.looper import Handler, LooperDriver, Message

Log = list[object]


class Recorder(Handler):
    """Logs the codes that it is sent."""

    def __init__(self) -> None:
        super().__init__()
        self.log: Log = []

    def handle_message(self, message: Message) -> None:
        """Logs."""
        self.log.append(message.what)

    def note(self, value: object) -> None:
        """A bound method to post."""
        self.log.append(value)


@pytest.fixture
def log() -> Log:
    """What ran, in order."""
    return []


def test_posts_run_in_due_order_and_equal_times_in_push_order(driver: LooperDriver, log: Log) -> None:
    """Due time comes first, then the order of posting."""
    handler = Handler()
    for name, delay in [("c", 2), ("a1", 1), ("a2", 1), ("d", 3), ("a3", 1), ("b", 1.5)]:
        handler.post_delayed(log.append, delay, name)
    driver.advance(5)
    assert log == ["a1", "a2", "a3", "b", "c", "d"]


def test_post_runs_after_what_is_due_already(driver: LooperDriver, log: Log) -> None:
    """A post is due now, so it goes behind earlier due times and behind earlier posts."""
    handler = Handler()
    handler.post(log.append, "first")
    handler.post_at(log.append, -1.0, "earlier")
    handler.post(log.append, "second")
    driver.run_until_idle()
    assert log == ["earlier", "first", "second"]


def test_posts_keep_their_place_among_timers_on_the_real_clock(real_driver: LooperDriver, log: Log) -> None:
    """Posts that read no clock run before what was posted later, others behind what was due before them."""
    handler = Handler()
    handler.post(log.append, 1)
    handler.post_delayed(log.append, -1, 2)
    handler.send_message_at(handler.obtain_message(9), math.inf)
    handler.post_at(log.append, real_driver.now, 3)
    handler.post(log.append, 4)
    handler.post_at_front(log.append, 0)
    real_driver.run_until_idle()
    handler.post(log.append, 5)
    handler.remove_messages(9)
    real_driver.run_until_idle()
    handler.post(log.append, 6)
    real_driver.run_until_idle()
    assert log == [0, 1, 2, 3, 4, 5, 6]


def test_past_times_overtake_on_the_real_clock_too(real_driver: LooperDriver, log: Log) -> None:
    """Once a time that has passed was asked for, every post knows its own."""
    handler = Handler()
    before = real_driver.now
    handler.post_at(log.append, -math.inf, "due since ever")
    real_driver.run_until_idle()
    handler.post(log.append, "now")
    handler.post_at(log.append, before, "earlier")
    real_driver.run_until_idle()
    assert log == ["due since ever", "earlier", "now"]


def test_front_posts_overtake_newest_first(driver: LooperDriver, log: Log) -> None:
    """post_at_front() goes before everything, the last one first."""
    handler = Handler()
    handler.post_at(log.append, -math.inf, "due since ever")
    handler.post_at_front(log.append, "front 1")
    handler.post_at_front(log.append, "front 2")
    driver.run_until_idle()
    assert log == ["front 2", "front 1", "due since ever"]


@pytest.mark.parametrize("delay", [0, -0.0, -1, -1e300, -math.inf])
def test_negative_delays_are_due_now_in_push_order(driver: LooperDriver, log: Log, delay: float) -> None:
    """A negative delay is no way to the front of the queue."""
    driver.advance(10)
    handler = Handler()
    handler.post(log.append, "before")
    handler.post_delayed(log.append, delay, "it")
    handler.post(log.append, "after")
    driver.run_until_idle()
    assert log == ["before", "it", "after"]


@pytest.mark.parametrize("delay", [1e10, 1e300, math.inf])
def test_huge_delays_never_run_and_can_be_removed(driver: LooperDriver, log: Log, delay: float) -> None:
    """Beyond the clock's range is never, instead of an overflow into the past."""
    handler = Handler()
    assert handler.post_delayed(log.append, delay, "never")
    assert driver.advance(1e6) == 0
    assert handler.has_callbacks(log.append)
    assert handler.remove_callbacks(log.append) == 1
    assert log == []


def test_remove_all_without_token_takes_everything_of_this_handler(driver: LooperDriver, log: Log) -> None:
    """Callbacks and messages, with tokens and without, due or not; nothing of the looper's other handlers."""
    mine, other = Recorder(), Recorder()
    for handler in (mine, other):
        handler.post(log.append, "post")
        handler.post_delayed(log.append, 1, "later", token=log)
        handler.send(1)
        handler.send(2, obj=log)
        handler.send_message(Message(3, token=log))
        handler.post_at_front(log.append, "front")
    assert mine.remove_all(None) == 6
    assert mine.remove_all() == 0
    driver.advance(2)
    assert mine.log == []
    assert other.log == [1, 2, 3]
    assert log == ["front", "post", "later"]


def test_remove_all_with_token_takes_only_what_has_it(driver: LooperDriver, log: Log) -> None:
    """The token of a post, and of a message its token or else its obj, compared by identity."""
    token, equal = [1], [1]
    handler = Recorder()
    handler.post(log.append, "with", token=token)
    handler.post(log.append, "equal", token=equal)
    handler.post(log.append, "without")
    handler.send(1, obj=token)
    handler.send(2, obj=equal)
    handler.send(3)
    handler.send(4, obj=equal, token=token)
    handler.send(5, obj=token, token=equal)
    assert handler.remove_all(token) == 3
    driver.run_until_idle()
    assert log == ["equal", "without"]
    assert handler.log == [2, 3, 5]


def test_remove_callbacks_heeds_the_token(driver: LooperDriver, log: Log) -> None:
    """With a token only posts that have it; without, all posts of the callback."""
    handler, token = Handler(), object()

    def callback(value: str) -> None:
        log.append(value)

    handler.post(callback, "plain")
    handler.post(callback, "token", token=token)
    handler.post(callback, "other", token=object())
    assert handler.has_callbacks(callback, token)
    assert handler.remove_callbacks(callback, token) == 1
    assert not handler.has_callbacks(callback, token)
    assert handler.has_callbacks(callback)
    assert handler.remove_callbacks(callback) == 2
    assert driver.run_until_idle() == 0


def test_codes_never_match_callbacks(driver: LooperDriver, log: Log) -> None:
    """remove_messages(0) and has_messages(0) leave posts alone, though a post has no code of its own."""
    handler = Recorder()
    handler.post(log.append, "callback")
    assert not handler.has_messages(0)
    assert handler.remove_messages(0) == 0
    handler.send(0)
    assert handler.has_messages(0)
    assert handler.remove_messages(0) == 1
    driver.run_until_idle()
    assert (log, handler.log) == (["callback"], [])


def test_remove_messages_heeds_code_and_obj(driver: LooperDriver) -> None:
    """None is any obj; another is compared by identity."""
    handler, obj = Recorder(), [1]
    for what in (1, 2):
        handler.send(what)
        handler.send(what, obj=obj)
        handler.send(what, obj=[1])
    assert handler.has_messages(1, obj)
    assert not handler.has_messages(1, [1])
    assert handler.remove_messages(1, obj) == 1
    assert handler.remove_messages(1, None) == 2
    driver.run_until_idle()
    assert handler.log == [2, 2, 2]


def test_handlers_of_one_looper_do_not_see_each_other(driver: LooperDriver) -> None:
    """Same code, same callback, same token: removal and questions stay within one handler."""
    first, second = Recorder(), Recorder()
    token = object()
    for handler in (first, second):
        handler.send(7, obj=token)
        handler.post(driver.run_until_idle, token=token)
    assert first.remove_all(token) == 2
    assert not first.has_messages(7)
    assert second.has_messages(7)
    assert not first.has_callbacks(driver.run_until_idle)
    assert second.remove_callbacks(driver.run_until_idle) == 1
    driver.run_until_idle()
    assert (first.log, second.log) == ([], [7])


def test_removal_during_dispatch_takes_what_is_pending_only(driver: LooperDriver, log: Log) -> None:
    """A callback that removes itself, others and everything: it goes on, what it removed never runs."""
    handler = Handler()

    def remove() -> None:
        log.append(handler.remove_callbacks(remove))
        log.append(handler.has_callbacks(victim))
        log.append(handler.remove_all(None))
        handler.post(log.append, "posted after the removal")

    def victim() -> None:
        log.append("must not run")

    handler.post(remove)
    handler.post(remove)
    handler.post(victim)
    driver.run_until_idle()
    assert log == [1, True, 1, "posted after the removal"]


class Slotted:
    """Two instances compare equal, their methods are not the same."""

    def __init__(self, log: Log) -> None:
        self.log = log

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Slotted)

    def __hash__(self) -> int:
        return 1

    def method(self) -> None:
        """Logs."""
        self.log.append(id(self))


def test_bound_methods_are_told_apart_by_function_and_object(driver: LooperDriver, log: Log) -> None:
    """A method looked up anew is the same callback; that of an equal object is not."""
    handler, one, other = Handler(), Slotted(log), Slotted(log)
    handler.post(one.method)
    handler.post(other.method)
    assert handler.has_callbacks(one.method)
    assert handler.remove_callbacks(one.method) == 1
    assert not handler.has_callbacks(one.method)
    driver.run_until_idle()
    assert log == [id(other)]


def test_builtin_methods_are_told_apart_too(driver: LooperDriver) -> None:
    """list.append of one list is not that of another."""
    handler = Handler()
    one: Log = []
    other: Log = []
    handler.post(one.append, 1)
    handler.post(other.append, 2)
    handler.post(one.clear)
    assert handler.remove_callbacks(one.append) == 1
    assert handler.remove_callbacks(other.clear) == 0
    driver.run_until_idle()
    assert (one, other) == ([], [2])


def test_arguments_reach_the_callback(driver: LooperDriver, log: Log) -> None:
    """None, a few and many, for functions, methods and builtins."""
    handler = Recorder()

    def function(*args: int) -> None:
        log.append(args)

    for count in (0, 1, 3, 7, 8, 20):
        handler.post(function, *range(count))
    handler.post(handler.note, "method")
    handler.post(log.append, "builtin")
    driver.run_until_idle()
    assert log == [*(tuple(range(count)) for count in (0, 1, 3, 7, 8, 20)), "builtin"]
    assert handler.log == ["method"]


@pytest.mark.parametrize("handled", [True, False])
def test_callback_form_goes_before_handle_message(driver: LooperDriver, handled: bool) -> None:
    """The callback's true answer leaves handle_message() out."""
    seen: Log = []

    class Both(Handler):
        def handle_message(self, message: Message) -> None:
            seen.append(("method", message.what))

    def callback(message: Message) -> bool:
        seen.append(("callback", message.what))
        return handled

    Both(driver.looper, callback).send(4)
    driver.run_until_idle()
    assert seen == [("callback", 4)] if handled else [("callback", 4), ("method", 4)]


def test_schedule_can_be_cancelled_once_and_only_before_it_ran(driver: LooperDriver, log: Log) -> None:
    """cancel() tells whether it was in time."""
    handler = Handler()
    first = handler.schedule(log.append, 1, "first")
    second = handler.schedule(log.append, 2, "second")
    assert first
    assert (first.when, second.when) == (1.0, 2.0)
    assert second.cancel()
    assert not second.cancel()
    driver.advance(3)
    assert log == ["first"]
    assert not first.cancel()


@pytest.mark.parametrize("end", ["quit", "quit_safely"])
def test_nothing_raises_after_quit(driver: LooperDriver, end: str) -> None:
    """Every way to post answers False; removal and questions answer too."""
    handler = Handler()
    getattr(driver.looper, end)()
    assert not driver.step()
    posts: list[Callable[[], object]] = [
        lambda: handler.post(print),
        lambda: handler.post_delayed(print, 1),
        lambda: handler.post_at(print, 1),
        lambda: handler.post_at_front(print),
        lambda: bool(handler.schedule(print, 1)),
        lambda: handler.send(1),
        lambda: handler.send_message(Message(1)),
        lambda: handler.send_message_at(Message(1), 1),
        lambda: handler.send_message_at_front(Message(1)),
        lambda: bool(driver.looper.post_sync_barrier()),
        lambda: handler.has_callbacks(print),
        lambda: handler.has_messages(1),
    ]
    assert [post() for post in posts] == [False] * len(posts)
    assert handler.remove_all(None) == 0


def test_quit_drops_and_quit_safely_runs_what_is_due(driver: LooperDriver, log: Log) -> None:
    """quit_safely() runs what was due when it took effect, and nothing later."""
    handler = Handler()
    handler.post(log.append, "due")
    handler.post_delayed(log.append, 1, "later")
    driver.looper.quit_safely()
    assert not handler.post(log.append, "too late")
    while driver.step():
        pass
    assert log == ["due"]
    assert driver.looper.closed


def test_quit_drops_everything(driver: LooperDriver, log: Log) -> None:
    """quit() runs nothing any more."""
    Handler().post(log.append, "due")
    driver.looper.quit()
    assert not driver.step()
    assert log == []


def test_barrier_holds_back_all_but_asynchronous_messages(driver: LooperDriver, log: Log) -> None:
    """From its due time on, until it is removed; for handlers and single messages."""
    plain, urgent = Recorder(), Handler(asynchronous=True)
    plain.post(log.append, "before the barrier")
    barrier = driver.looper.post_sync_barrier()
    plain.post(log.append, "held")
    urgent.post(log.append, "asynchronous")
    plain.send_message(Message(5, asynchronous=True))
    driver.run_until_idle()
    assert log == ["before the barrier", "asynchronous"]
    assert plain.log == [5]
    assert driver.looper.remove_sync_barrier(barrier)
    assert not driver.looper.remove_sync_barrier(barrier)
    driver.run_until_idle()
    assert log[2:] == ["held"]


def test_barrier_with_a_due_time_lets_earlier_messages_pass(driver: LooperDriver, log: Log) -> None:
    """What is due before the barrier runs."""
    handler = Handler()
    barrier = driver.looper.post_sync_barrier(2.0)
    handler.post_delayed(log.append, 1, "early")
    handler.post_delayed(log.append, 3, "late")
    driver.advance(5)
    assert log == ["early"]
    barrier.cancel()
    driver.run_until_idle()
    assert log == ["early", "late"]
