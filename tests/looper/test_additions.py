"""Idle handlers, descriptors, observers, the watchdog, the driver."""

import os
import socket
import threading
import time

import pytest

from unjank import Handler, HandlerThread, Looper, LooperError
from unjank.looper import Dispatch, FdEvent, HandlerExecutor, LooperDriver, LooperObserver, Stall, Watchdog
from unjank.looper._watchdog import StallDetector

WAIT_S = 30


def test_idle_handlers_run_between_bursts(ui: HandlerThread) -> None:
    """Once each time the looper runs dry, for as long as they answer true."""
    handler, idle = Handler(ui.looper), threading.Semaphore(0)
    answers = iter([True, True, False])

    def on_idle() -> bool:
        idle.release()
        return next(answers)

    ui.looper.add_idle_handler(on_idle)
    for _ in range(3):
        assert idle.acquire(timeout=WAIT_S)
        handler.run_with_scissors(lambda: None)
    handler.run_with_scissors(lambda: None)
    assert not idle.acquire(blocking=False)
    assert not ui.looper.remove_idle_handler(on_idle)


def test_what_an_idle_handler_posts_runs_at_once(driver: LooperDriver) -> None:
    """The looper looks again before it sleeps."""
    handler = Handler()
    ran: list[float] = []
    driver.looper.add_idle_handler(lambda: handler.post(ran.append, 1) and False)
    driver.run_until_idle()
    assert ran == [1]
    driver.run_until_idle()
    assert ran == [1]


def test_an_idle_handler_that_raises_is_taken_off(ui: HandlerThread) -> None:
    """The hook hears of it."""
    told = threading.Event()
    ui.looper.exception_hook = lambda raised, dispatch: told.set()
    ui.looper.add_idle_handler(lambda: 1 / 0)
    assert told.wait(WAIT_S)
    assert Handler(ui.looper).run_with_scissors(lambda: None)


def test_descriptors_wake_the_looper(ui: HandlerThread) -> None:
    """The listener is told what is ready, on the looper's thread, until it answers with nothing."""
    reader, writer = socket.socketpair()
    seen: list[object] = []
    ended = threading.Event()

    def listener(fd: int, events: FdEvent) -> FdEvent | None:
        seen.append((os.read(fd, 1), bool(events & FdEvent.INPUT), threading.current_thread()))
        if len(seen) < 2:
            return None
        ended.set()
        return FdEvent(0)

    with reader, writer:
        ui.looper.add_fd_listener(reader.fileno(), FdEvent.INPUT, listener)
        writer.send(b"ab")
        assert ended.wait(WAIT_S)
        Handler(ui.looper).run_with_scissors(lambda: None)
        assert not ui.looper.remove_fd_listener(reader.fileno())
    assert seen == [(b"a", True, ui), (b"b", True, ui)]


def test_a_listener_may_change_what_it_waits_for(driver: LooperDriver) -> None:
    """From writable to readable, and to hang-up without being asked."""
    reader, writer = socket.socketpair()
    seen: list[FdEvent] = []

    def listener(fd: int, events: FdEvent) -> FdEvent:
        seen.append(events)
        return FdEvent.INPUT

    with reader:
        driver.looper.add_fd_listener(reader.fileno(), FdEvent.OUTPUT, listener)
        driver.step()
        driver.step()
        assert seen == [FdEvent.OUTPUT]
        writer.close()
        driver.step()
        assert seen[1] & FdEvent.INPUT
        assert seen[1] & FdEvent.HANG_UP
        assert driver.looper.remove_fd_listener(reader.fileno())
        assert not driver.looper.remove_fd_listener(reader.fileno())


def test_adding_a_descriptor_again_replaces_its_listener(driver: LooperDriver) -> None:
    """Only the new one is called, also for a descriptor number that was closed and opened anew."""
    seen: list[str] = []
    reader, writer = os.pipe()
    driver.looper.add_fd_listener(writer, FdEvent.OUTPUT, lambda fd, events: seen.append("old"))
    driver.looper.add_fd_listener(writer, FdEvent.OUTPUT, lambda fd, events: seen.append("new"))
    driver.step()
    os.close(writer)
    os.close(reader)
    reader, writer = os.pipe()
    driver.looper.add_fd_listener(writer, FdEvent.OUTPUT, lambda fd, events: seen.append("reopened"))
    driver.step()
    driver.looper.remove_fd_listener(writer)
    os.close(writer)
    os.close(reader)
    assert seen == ["new", "reopened"]


def test_a_flood_of_messages_does_not_starve_descriptors(ui: HandlerThread) -> None:
    """A callback that posts itself for ever; the descriptor is served all the same."""
    handler, served, reader_writer = Handler(ui.looper), threading.Event(), os.pipe()

    def flood() -> None:
        if not served.is_set():
            handler.post(flood)

    def listener(fd: int, events: FdEvent) -> FdEvent:
        served.set()
        return FdEvent(0)

    handler.post(flood)
    ui.looper.add_fd_listener(reader_writer[0], FdEvent.INPUT, listener)
    os.write(reader_writer[1], b"x")
    assert served.wait(WAIT_S)
    handler.run_with_scissors(lambda: None)
    for fd in reader_writer:
        os.close(fd)


def test_a_listener_that_raises_goes_to_the_hook(driver: LooperDriver) -> None:
    """And is still there."""
    reader, writer = os.pipe()
    driver.looper.add_fd_listener(writer, FdEvent.OUTPUT, lambda fd, events: 1 / 0)  # type: ignore[arg-type,return-value]  # raises
    with pytest.raises(ZeroDivisionError):
        driver.step()
    assert driver.looper.remove_fd_listener(writer)
    os.close(writer)
    os.close(reader)


class Slow(LooperObserver):
    """Notes what it is told."""

    def __init__(self, delivery: float | None, dispatch: float | None) -> None:
        self.slow_delivery = delivery
        self.slow_dispatch = dispatch
        self.told: list[tuple[str, str, float]] = []

    def on_slow_delivery(self, dispatch: Dispatch, late: float) -> None:
        """Notes."""
        self.told.append(("delivery", str(dispatch), late))

    def on_slow_dispatch(self, dispatch: Dispatch, took: float) -> None:
        """Notes."""
        self.told.append(("dispatch", str(dispatch), took))


def test_observers_hear_of_late_and_long_dispatches(driver: LooperDriver) -> None:
    """From the threshold on, each by its own; exact on a virtual clock."""
    strict, lax, removed = Slow(0.5, 0.25), Slow(10, None), Slow(0, 0)
    for observer in (strict, lax, removed):
        driver.looper.add_observer(observer)
    assert driver.looper.remove_observer(removed)
    assert not driver.looper.remove_observer(removed)
    handler = Handler()

    def work(seconds: float) -> None:
        driver.looper._advance(seconds)

    handler.post(work, 0.125)
    handler.post(work, 0.5)
    handler.post(work, 0.0)
    driver.run_until_idle()
    name = "callback test_observers_hear_of_late_and_long_dispatches.<locals>.work"
    assert strict.told == [("dispatch", name, 0.5), ("delivery", name, 0.625)]
    assert lax.told == []
    assert removed.told == []


def test_observers_hear_the_name_of_what_others_wait_for(ui: HandlerThread) -> None:
    """Of the function that an executor or scissors were given, not of what wraps it."""
    observer = Slow(None, 0.0)
    ui.looper.add_observer(observer)
    handler = Handler(ui.looper)
    HandlerExecutor(handler).submit(len, "").result(WAIT_S)
    handler.run_with_scissors(locals)
    handler.run_with_scissors(lambda: None)
    assert [name for _, name, _ in observer.told[:2]] == ["callback len", "callback locals"]


def test_observers_of_late_deliveries_hear_of_posts_on_the_real_clock(real_driver: LooperDriver) -> None:
    """While one listens, a post notes its time though nothing else is pending; then it need not."""
    observer = Slow(0.0, None)
    real_driver.looper.add_observer(observer)
    handler = Handler()
    handler.post(int)
    posted = real_driver.now
    while (waited := real_driver.now - posted) < 0.001:
        pass
    real_driver.run_until_idle()
    real_driver.looper.remove_observer(observer)
    handler.post(int)
    real_driver.run_until_idle()
    ((_, _, late),) = observer.told
    assert late >= waited


def test_exception_hooks_see_when_a_callback_was_due_or_began(real_driver: LooperDriver) -> None:
    """A post without a timer beside it tells a time between the post and the hook."""
    dispatches: list[Dispatch] = []
    real_driver.looper.exception_hook = lambda _, dispatch: dispatches.append(dispatch)
    before = real_driver.now
    Handler().post(lambda: 1 / 0)
    real_driver.step()
    assert before <= dispatches[0].when <= real_driver.now


def test_front_posts_are_never_late(driver: LooperDriver) -> None:
    """They have no due time to be late for."""
    observer = Slow(1.0, None)
    driver.looper.add_observer(observer)
    handler = Handler()
    handler.post_at_front(driver.looper._advance, 0.0)
    handler.post_at_front(driver.looper._advance, 5.0)
    driver.run_until_idle()
    assert observer.told == []


def test_stalls_are_reported_once_each(driver: LooperDriver) -> None:
    """The same dispatch seen for the limit is a stall; the next one is another."""
    detector = StallDetector(driver.looper, 1.0)
    handler = Handler()
    looks: list[Stall | None] = []

    def stall() -> None:
        looks.extend(detector.look(now) for now in (0.0, 0.9, 1.0, 5.0))

    handler.post(stall)
    handler.post(stall)
    driver.run_until_idle()
    assert detector.look(100.0) is None
    assert [look is not None for look in looks] == [False, False, True, False] * 2
    assert isinstance(looks[2], Stall)
    assert looks[2].seconds == 1.0
    assert "in stall" in looks[2].stack


def test_the_watchdog_shows_the_loopers_stack(ui: HandlerThread) -> None:
    """From its own thread, while the looper is stuck."""
    stalls: list[Stall] = []
    released = threading.Event()

    def stuck_here() -> None:
        released.wait(WAIT_S)

    def report(stall: Stall) -> None:
        stalls.append(stall)
        released.set()

    with Watchdog(ui.looper, 0.02, report):
        Handler(ui.looper).run_with_scissors(stuck_here)
    assert len(stalls) == 1
    assert "stuck_here" in stalls[0].stack
    assert "'ui' has been in one dispatch" in str(stalls[0])


def test_the_watchdog_leaves_idle_loopers_alone(ui: HandlerThread) -> None:
    """A looper that sleeps is not stuck."""
    stalls: list[Stall] = []
    detector = StallDetector(ui.looper, 0.5)
    Handler(ui.looper).run_with_scissors(lambda: None)
    while ui.looper._dispatches % 2:
        time.sleep(0.001)
    stalls.extend(filter(None, (detector.look(now) for now in (0.0, 1.0, 2.0))))
    assert stalls == []


def test_the_driver_stops_the_clock_at_each_due_time(driver: LooperDriver) -> None:
    """What a message posts on the way runs on the way."""
    handler = Handler()
    ran: list[float] = []

    def tick(left: int) -> None:
        ran.append(driver.now)
        if left:
            handler.post_delayed(tick, 0.25, left - 1)

    handler.post_delayed(tick, 0.25, 3)
    assert driver.next_due() == 0.25
    assert driver.advance(0.5) == 2
    assert driver.now == 0.5
    assert driver.advance(10) == 2
    assert ran == [0.25, 0.5, 0.75, 1.0]
    assert driver.next_due() is None


def test_what_is_at_the_front_is_due_now(driver: LooperDriver) -> None:
    """The driver looks ahead to now, whatever else is pending."""
    handler = Handler()
    driver.advance(5)
    handler.post_delayed(len, 1, "")
    handler.post_at_front(len, "")
    assert driver.next_due() == 5
    driver.step()
    assert driver.next_due() == 6


def test_the_driver_steps_one_message(driver: LooperDriver) -> None:
    """step() runs one that is due, and never one that is not."""
    handler = Handler()
    ran: list[float] = []
    handler.post(ran.append, 1)
    handler.post(ran.append, 2)
    handler.post_delayed(ran.append, 1, 3)
    assert driver.step()
    assert ran == [1]
    assert driver.step()
    assert not driver.step()
    assert ran == [1, 2]


def test_the_driver_raises_what_callbacks_raise(driver: LooperDriver) -> None:
    """A test that drives a looper fails where the callback does."""
    handler = Handler()
    ran: list[float] = []
    handler.post(lambda: 1 / 0)
    handler.post(ran.append, 1)
    with pytest.raises(ZeroDivisionError):
        driver.run_until_idle()
    driver.run_until_idle()
    assert ran == [1]


def test_the_driver_can_leave_exceptions_to_the_hook() -> None:
    """With raise_exceptions=False they go where they go in production."""
    with LooperDriver(raise_exceptions=False) as driver:
        told: list[BaseException] = []
        driver.looper.exception_hook = lambda raised, dispatch: told.append(raised)
        Handler().post(lambda: 1 / 0)
        driver.run_until_idle()
        assert isinstance(told[0], ZeroDivisionError)


def test_the_driver_notices_endless_work(driver: LooperDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    """A callback that posts itself without delay."""
    monkeypatch.setattr("unjank.looper._driver._MOST_MESSAGES", 100)
    handler = Handler()

    def again() -> None:
        handler.post(again)

    again()
    with pytest.raises(LooperError, match="still not idle after 100 messages"):
        driver.run_until_idle()


def test_the_driver_drives_a_looper_with_the_real_clock() -> None:
    """One that it did not make is left as it was."""
    looper = Looper.prepare()
    hook = looper.exception_hook
    with LooperDriver(looper) as driver:
        handler = Handler()
        ran: list[int] = []
        handler.post(ran.append, 1)
        handler.post_delayed(ran.append, 3600, 2)
        assert driver.run_until_idle() == 1
        due = driver.next_due()
        assert due is not None
        assert due > time.monotonic() + 3000
    assert looper.exception_hook == hook
    assert not looper.closed
    looper.quit()
    looper.run()
