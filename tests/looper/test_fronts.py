"""The executor and the scheduler: interfaces of the standard library on a looper."""

import sched
import threading
from concurrent.futures import CancelledError, Future, wait

import pytest

from unjank import Handler, HandlerThread, LooperError
from unjank.looper import HandlerExecutor, LooperDriver, LooperScheduler

WAIT_S = 30


def test_executor_runs_calls_in_order_on_the_looper(ui: HandlerThread) -> None:
    """submit() and map() bring results and exceptions back."""
    with HandlerExecutor(Handler(ui.looper)) as executor:
        assert executor.submit(threading.current_thread).result(WAIT_S) is ui
        assert list(executor.map(pow, [2, 3], [5, 2])) == [32, 9]
        assert executor.submit(dict, a=1).result(WAIT_S) == {"a": 1}
        with pytest.raises(ZeroDivisionError):
            executor.submit(lambda: 1 / 0).result(WAIT_S)
    with pytest.raises(RuntimeError, match="after shutdown"):
        executor.submit(print)
    assert Handler(ui.looper).post(print) is True


def test_cancelling_a_future_takes_its_message_out(driver: LooperDriver) -> None:
    """At once, not when its turn comes."""
    handler = Handler()
    executor = HandlerExecutor(handler)
    future = executor.submit(print)
    assert future.cancel()
    assert driver.next_due() is None
    assert wait([future], timeout=WAIT_S).done == {future}
    executor.shutdown()


@pytest.mark.parametrize("end", ["quit", "remove", "cancel_futures"])
def test_futures_that_never_run_are_cancelled(driver: LooperDriver, end: str) -> None:
    """Nobody waits for ever."""
    handler = Handler()
    executor = HandlerExecutor(handler)
    futures = [executor.submit(print) for _ in range(3)]
    if end == "quit":
        driver.looper.quit()
        driver.step()
    elif end == "remove":
        assert handler.remove_all(None) == 3
    else:
        executor.shutdown(cancel_futures=True)
    for future in futures:
        with pytest.raises(CancelledError):
            future.result(WAIT_S)


def test_executor_of_a_dead_looper_refuses(driver: LooperDriver) -> None:
    """submit() raises as executors do."""
    handler = Handler()
    driver.looper.quit()
    with pytest.raises(RuntimeError, match="the looper has quit"):
        HandlerExecutor(handler).submit(print)


def test_shutdown_waits_for_what_was_submitted(ui: HandlerThread) -> None:
    """All futures are done when it returns."""
    executor, gate = HandlerExecutor(Handler(ui.looper)), threading.Event()
    futures: list[Future[object]] = [executor.submit(gate.wait), executor.submit(print, end="")]
    threading.Timer(0.01, gate.set).start()
    executor.shutdown()
    assert all(future.done() for future in futures)


def _schedule(scheduler: sched.scheduler | LooperScheduler, now: float, log: list[str]) -> list[sched.Event]:
    return [
        scheduler.enterabs(now + 2, 1, log.append, ("time 2 priority 1",)),
        scheduler.enterabs(now + 2, 0, log.append, argument=("time 2 priority 0",)),
        scheduler.enterabs(now + 1, 5, log.append, ("time 1",)),
        scheduler.enterabs(now + 2, 1, log.append, ("time 2 priority 1 second",)),
        scheduler.enter(3, 1, dict, kwargs={"a": 1}),
        scheduler.enter(1.5, 1, log.append, ("cancelled",)),
    ]


def test_scheduler_orders_as_the_standard_one(driver: LooperDriver) -> None:
    """Same events, same queue, same order of running."""
    theirs: list[str] = []
    ours: list[str] = []
    clock = [0.0]
    standard = sched.scheduler(lambda: clock[0], lambda delay: clock.__setitem__(0, clock[0] + delay))
    scheduler = LooperScheduler(Handler())
    for front, log in ((standard, theirs), (scheduler, ours)):
        front.cancel(_schedule(front, 0.0, log)[-1])
    assert [event[:3] for event in scheduler.queue] == [event[:3] for event in standard.queue]
    assert scheduler.run(blocking=False) == standard.run(blocking=False) == 1.0
    standard.run()
    driver.advance(10)
    assert ours == theirs
    assert scheduler.empty()
    assert scheduler.run(blocking=False) is None


def test_scheduler_cancel_raises_for_what_is_not_there(driver: LooperDriver) -> None:
    """As the standard one."""
    scheduler = LooperScheduler(Handler())
    event = scheduler.enter(1, 0, print, kwargs={"end": ""})
    scheduler.cancel(event)
    with pytest.raises(ValueError, match="not in the queue"):
        scheduler.cancel(event)
    assert driver.next_due() is None


def test_scheduler_run_from_another_thread_waits(ui: HandlerThread) -> None:
    """run() returns when all events have run on the looper."""
    scheduler, ran = LooperScheduler(Handler(ui.looper)), []
    for delay in (0.02, 0.01):
        scheduler.enter(delay, 0, lambda d=delay: ran.append((d, threading.current_thread())))
    scheduler.run()
    Handler(ui.looper).run_with_scissors(lambda: None)
    assert ran == [(0.01, ui), (0.02, ui)]


def test_scheduler_run_on_the_looper_drives_it() -> None:
    """Without anybody else running the looper."""
    from unjank import Looper

    looper = Looper.prepare()
    scheduler = LooperScheduler(Handler())
    ran: list[int] = []
    scheduler.enter(0.01, 0, ran.append, (1,))
    scheduler.run()
    assert ran == [1]
    Handler().post(scheduler.run)
    Handler().post(looper.quit)
    told: list[BaseException] = []
    looper.exception_hook = lambda raised, dispatch: told.append(raised)
    looper.run()
    assert isinstance(told[0], LooperError)


def test_scheduler_of_a_looper_that_quits_is_empty(ui: HandlerThread) -> None:
    """Whoever waits in run() is let go."""
    scheduler = LooperScheduler(Handler(ui.looper))
    scheduler.enter(3600, 0, print)
    threading.Timer(0.01, ui.quit).start()
    scheduler.run()
    assert scheduler.empty()
    ui.join()
    scheduler.enter(1, 0, print)
    assert scheduler.empty()
