"""Wrong use: each error says what to do instead."""

import copy
import math
import os
import pickle
import re
import threading
from collections.abc import Callable
from typing import Any, cast

import pytest

from unjank import Handler, HandlerThread, Looper, LooperError, Message
from unjank.looper import FdEvent, HandlerExecutor, LooperDriver, LooperObserver, LooperScheduler, Watchdog
from unjank.looper._looper_class import QueueName


@pytest.mark.parametrize(
    ("call", "kind", "fix"),
    [
        (lambda h: h.post(None), TypeError, "pass the function itself"),
        (lambda h: h.post(), TypeError, "needs a callback"),
        (lambda h: h.post_delayed(print), TypeError, "a time in seconds"),
        (lambda h: h.post_delayed(print, "1"), TypeError, "must be a number of seconds, not str"),
        (lambda h: h.post_delayed(print, math.nan), ValueError, "math.inf for never"),
        (lambda h: h.post(print, tokn=1), TypeError, "unexpected keyword argument 'tokn'"),
        (lambda h: h.send("code"), TypeError, "must be an int, not str; pass other objects as obj"),
        (lambda h: h.send(2**63), OverflowError, "must fit 64 bits"),
        (lambda h: h.send(-(2**63)), OverflowError, "must fit 64 bits"),
        (lambda h: h.send(), TypeError, "missing its argument 'what'"),
        (lambda h: h.send(1, what=1), TypeError, "multiple values for argument 'what'"),
        (lambda h: h.send(1, 2, 3, 4, 5), TypeError, "at most 4 positional"),
        (lambda h: h.send_message(3), TypeError, "call send\\(what, ...\\)"),
        (lambda h: h.send_message(Message(callback=cast("Any", "x"))), TypeError, "needs a callable"),
        (lambda h: h.remove_callbacks(3), TypeError, "needs a callable"),
        (lambda h: h.remove_messages(None), TypeError, "must be an int"),
        (lambda h: Handler(cast("Any", threading.current_thread())), TypeError, "pass its .looper"),
        (lambda h: Handler(h.looper, cast("Any", 3)), TypeError, "needs a callable"),
        (lambda h: h.looper.add_idle_handler(3), TypeError, "needs a callable"),
        (lambda h: h.looper.add_observer(LooperObserver), TypeError, "needs an instance"),
        (lambda h: h.looper.remove_sync_barrier(3), TypeError, "what post_sync_barrier"),
        (lambda h: h.run_with_scissors(cast("Any", 3)), TypeError, "pass the function"),
        (
            lambda h: HandlerExecutor(cast("Any", h.looper)),
            TypeError,
            r"a Handler, not Looper: Handler\(looper\)",
        ),
        (
            lambda h: LooperScheduler(cast("Any", h.looper)),
            TypeError,
            r"a Handler, not Looper: Handler\(looper\)",
        ),
        (lambda h: Watchdog(cast("Any", threading.current_thread())), TypeError, "its .looper"),
        (lambda _: LooperDriver(cast("Any", threading.current_thread())), TypeError, "needs a Looper"),
    ],
)
def test_wrong_arguments(
    driver: LooperDriver, call: Callable[[Handler], object], kind: type[Exception], fix: str
) -> None:
    """The message names the argument and what it should be; nothing is posted."""
    with pytest.raises(kind, match=fix):
        call(Handler())
    assert driver.next_due() is None


def test_a_handler_needs_a_looper() -> None:
    """A thread without one is told how to get one."""
    with pytest.raises(LooperError, match=r"call Looper.prepare\(\) first"):
        Handler()


def test_a_thread_has_one_looper(driver: LooperDriver) -> None:
    """A second prepare() names the first."""
    assert Looper.current() is driver.looper
    with pytest.raises(LooperError, match=r"Looper.current\(\) is it"):
        Looper.prepare()


def test_an_unknown_queue_is_refused() -> None:
    """The known ones are named."""
    with pytest.raises(LooperError, match="use 'lockfree' or 'locked'"):
        Looper.prepare(queue="fast")  # type: ignore[arg-type]  # on purpose
    assert Looper.current() is None


def test_a_forgotten_super_init_is_named(driver: LooperDriver) -> None:
    """Instead of a crash."""

    class Forgetful(Handler):
        def __init__(self) -> None:
            pass

    with pytest.raises(LooperError, match=r"call super\(\).__init__\(looper\)"):
        Forgetful().post(print)
    with pytest.raises(LooperError, match="make a new Handler"):
        Handler.__init__(Handler(driver.looper), driver.looper)


def test_a_driver_leaves_loopers_of_other_threads_alone(ui: HandlerThread) -> None:
    """Refused before it takes their exception hook."""
    hook = ui.looper.exception_hook
    with pytest.raises(LooperError, match="another thread's looper"):
        LooperDriver(ui.looper)
    assert ui.looper.exception_hook is hook


@pytest.mark.parametrize(("timeout", "kind"), [("1", TypeError), (math.nan, ValueError)])
def test_scissors_with_a_wrong_time_out_post_nothing(
    ui: HandlerThread, timeout: Any, kind: type[Exception]
) -> None:
    """The error comes before the post."""
    ran: list[int] = []
    with pytest.raises(kind, match="timeout"):
        Handler(ui.looper).run_with_scissors(lambda: ran.append(1), timeout)
    assert Handler(ui.looper).run_with_scissors(lambda: None, math.inf)
    assert not ran


def test_loops_run_on_their_own_thread(ui: HandlerThread) -> None:
    """run() and the steps of a driver that was handed to another thread refuse."""
    with pytest.raises(LooperError, match="on another thread than the looper's"):
        ui.looper.run()
    with pytest.raises(LooperError, match="on another thread than the looper's"):
        ui.looper._step(0.0)


def test_a_loop_does_not_run_inside_itself(ui: HandlerThread) -> None:
    """A callback that calls run() gets an error; the loop goes on."""
    handler = Handler(ui.looper)
    with pytest.raises(LooperError, match="return, and the loop goes on"):
        handler.run_with_scissors(ui.looper.run)
    assert handler.run_with_scissors(lambda: None)


def test_a_virtual_clock_is_not_run(driver: LooperDriver) -> None:
    """run() would sleep for ever; the driver is named."""
    with pytest.raises(LooperError, match="LooperDriver"):
        driver.looper.run()
    with pytest.raises(LooperError, match="only forward"):
        driver.advance(-1)


def test_a_dead_looper_does_not_run_again(queue: QueueName) -> None:
    """run() after the end says how to get a new one; the thread may then have one."""
    looper = Looper.prepare(queue)
    looper.quit()
    looper.run()
    assert Looper.current() is None
    with pytest.raises(LooperError, match=r"make a new one with Looper.prepare\(\)"):
        looper.run()
    with pytest.raises(LooperError, match="has quit"):
        looper.add_fd_listener(0, FdEvent.INPUT, lambda fd, events: None)
    with LooperDriver(queue=queue) as driver:
        assert driver.looper is not looper


def test_closed_descriptors_are_named(driver: LooperDriver) -> None:
    """Adding a closed one, or a regular file, fails with the reason."""
    reader, writer = os.pipe()
    os.close(reader)
    with pytest.raises(LooperError, match="remove the listener before you close"):
        driver.looper.add_fd_listener(reader, FdEvent.INPUT, lambda fd, events: None)
    os.close(writer)
    with open(__file__) as file, pytest.raises(LooperError, match="only for sockets, pipes"):  # noqa: PTH123  a descriptor
        driver.looper.add_fd_listener(file.fileno(), FdEvent.INPUT, lambda fd, events: None)
    with pytest.raises(ValueError, match=r"FdEvent\.INPUT"):
        driver.looper.add_fd_listener(0, FdEvent(0), lambda fd, events: None)
    with pytest.raises(TypeError, match=r"sock.fileno\(\)"):
        driver.looper.add_fd_listener("0", FdEvent.INPUT, lambda fd, events: None)  # type: ignore[arg-type]  # on purpose


def test_a_thread_that_was_not_started_is_named() -> None:
    """.looper would wait for ever."""
    with pytest.raises(LooperError, match=r"call .start\(\) or use it in a with"):
        HandlerThread("idle").looper  # noqa: B018  it raises


def test_a_thread_that_cannot_be_set_up_says_why() -> None:
    """CPUs that are not there: an error in the thread that starts it, with the CPUs that are."""
    with pytest.raises(LooperError, match=r"cannot run on CPUs \[100000\]; this process may use"):
        HandlerThread("elsewhere", cpus=[100000]).__enter__()


def test_executor_on_its_own_looper_does_not_wait_for_itself(ui: HandlerThread) -> None:
    """shutdown(wait=True) there would never return."""
    executor = HandlerExecutor(Handler(ui.looper))

    def shut_down() -> None:
        executor.submit(print)
        with pytest.raises(LooperError, match=r"shutdown\(wait=False\)"):
            executor.shutdown()

    Handler(ui.looper).run_with_scissors(shut_down)


def test_watchdogs_need_a_limit(driver: LooperDriver) -> None:
    """0 and NaN are none."""
    for limit in (0, -1, math.nan):
        with pytest.raises(LooperError, match="more than 0 seconds"):
            Watchdog(driver.looper, limit)


@pytest.mark.parametrize("copier", [pickle.dumps, copy.copy, copy.deepcopy])
def test_nothing_of_a_looper_can_be_pickled(driver: LooperDriver, copier: Callable[[object], object]) -> None:
    """Each says what to do instead."""
    handler = Handler()
    things = [driver.looper, handler, Message(1), handler.schedule(print, 1), HandlerThread("t")]
    for thing in things:
        with pytest.raises(TypeError, match=re.compile("cannot pickle .* object: .{20}")):
            copier(thing)


def test_main_looper_from_elsewhere_needs_one() -> None:
    """Another thread cannot make the main thread's looper."""
    Looper._main = None
    caught: list[BaseException] = []

    def ask() -> None:
        try:
            Looper.main()
        except LooperError as error:
            caught.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    assert "call Looper.prepare() there first" in str(caught[0])
