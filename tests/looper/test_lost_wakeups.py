"""Lost wake-ups: nobody retries, so one that is lost leaves its round waiting until the time limit."""

import asyncio
import queue as queues
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import TypeAlias

import pytest

from unjank.looper import Handler, HandlerExecutor, HandlerThread
from unjank.looper._looper_class import QueueName

LIMIT_S = 60.0
FEEDERS = 3
JOBS = 600

Jobs: TypeAlias = "queues.SimpleQueue[int | None]"


def test_lone_messages_from_changing_threads(ui: HandlerThread) -> None:
    """A poster that posts once and ends leaves no wake-up behind."""
    handler, ran = Handler(ui.looper), threading.Semaphore(0)
    for _ in range(300):
        poster = threading.Thread(target=handler.post, args=(ran.release,))
        poster.start()
        assert ran.acquire(timeout=LIMIT_S)
        poster.join()


def test_quit_races_the_only_post(queue: QueueName) -> None:
    """The looper ends each time, and the message ran exactly if its post was accepted."""
    with ThreadPoolExecutor(2) as pool:
        for _ in range(300):
            thread = HandlerThread("ui", queue=queue)
            thread.start()
            ran: list[int] = []
            start = threading.Barrier(2)
            accepted = pool.submit(_post_at_once, Handler(thread.looper), start, ran)
            pool.submit(_quit_at_once, thread, start).result()
            thread.join(LIMIT_S)
            assert not thread.is_alive()
            assert ran == [1] * accepted.result()


def _post_at_once(handler: Handler, start: threading.Barrier, ran: list[int]) -> bool:
    start.wait()
    return handler.post(ran.append, 1)


def _quit_at_once(thread: HandlerThread, start: threading.Barrier) -> None:
    start.wait()
    thread.quit_safely()


def test_timers_before_the_sleepers_deadline(ui: HandlerThread) -> None:
    """A message that is due before what the looper sleeps for is not slept through."""
    handler, ran = Handler(ui.looper), threading.Semaphore(0)
    for _ in range(300):
        handler.post_delayed(ran.release, 3600.0)
        handler.post_delayed(ran.release, 0.0005)
        assert ran.acquire(timeout=LIMIT_S)
        assert handler.remove_all(None) == 1


async def _shielded(
    executor: HandlerExecutor, jobs: "queues.SimpleQueue[int | None]", done: list[int]
) -> int:
    """Awaits each job impatiently, then without a limit: the time-out must not take the wake-up along."""
    timed_out = 0
    while (job := await asyncio.to_thread(jobs.get)) is not None:
        future = asyncio.wrap_future(executor.submit(done.append, job))
        try:
            await asyncio.wait_for(asyncio.shield(future), timeout=0)
        except TimeoutError:
            timed_out += 1
            await asyncio.wait_for(future, LIMIT_S)
    return timed_out


@pytest.mark.parametrize("loopers", [1, 2])
def test_shield_time_out_and_a_simple_queue_feeder(queue: QueueName, loopers: int) -> None:
    """Asyncio threads feed loopers from SimpleQueues: each job runs once though most waits time out."""
    done: list[int] = []
    with ExitStack() as stack, ThreadPoolExecutor(2 * FEEDERS) as pool:
        threads = [stack.enter_context(HandlerThread(f"ui-{i}", queue=queue)) for i in range(loopers)]
        waiting = []
        for feeder in range(FEEDERS):
            jobs: Jobs = queues.SimpleQueue()
            executor = HandlerExecutor(Handler(threads[feeder % loopers].looper))
            waiting.append(pool.submit(asyncio.run, _shielded(executor, jobs, done)))
            pool.submit(_feed, jobs, range(feeder * JOBS, (feeder + 1) * JOBS))
        timed_out = sum(future.result(LIMIT_S) for future in waiting)
    assert sorted(done) == list(range(FEEDERS * JOBS))
    assert timed_out > 0


def _feed(jobs: Jobs, numbers: range) -> None:
    for number in numbers:
        jobs.put(number)
    jobs.put(None)
