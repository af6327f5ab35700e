"""Who keeps what alive: payloads, handlers, loopers, and the collector's view of them."""

import gc
import random
import threading
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from unjank import Handler, HandlerThread, Looper, Message
from unjank._looper import return_spare_references
from unjank.looper import LooperDriver, Task, share
from unjank.looper._looper_class import QueueName


class Payload:
    """Something to watch; callable."""

    def __call__(self, *args: object) -> None:
        """Nothing."""

    def method(self) -> None:
        """Nothing."""


def _post(handler: Handler, payload: Payload) -> None:
    handler.post(payload)


def _post_method(handler: Handler, payload: Payload) -> None:
    handler.post(payload.method)


def _post_argument(handler: Handler, payload: Payload) -> None:
    handler.post(print, payload, token=payload)


def _send(handler: Handler, payload: Payload) -> None:
    handler.send(1, obj=payload, data={"key": payload})


def _send_message(handler: Handler, payload: Payload) -> None:
    handler.send_message(Message(1, obj=payload, callback=payload.method, token=payload))


WAYS = [_post, _post_method, _post_argument, _send, _send_message]


def _is_gone(reference: Callable[[], object]) -> bool:
    return_spare_references()
    for _ in range(3):
        if reference() is None:
            return True
        gc.collect()
    return reference() is None


@pytest.fixture
def no_collector() -> Iterator[None]:
    """Reference counts alone."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def _dispatch(driver: LooperDriver, handler: Handler) -> None:
    driver.run_until_idle()


def _remove(driver: LooperDriver, handler: Handler) -> None:
    handler.remove_all(None)


def _quit(driver: LooperDriver, handler: Handler) -> None:
    driver.looper.quit()
    driver.step()


@pytest.mark.parametrize("end", [_dispatch, _remove, _quit])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.usefixtures("no_collector")
def test_payloads_live_as_long_as_they_are_pending(
    driver: LooperDriver,
    way: Callable[[Handler, Payload], None],
    end: Callable[[LooperDriver, Handler], None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """And go with the dispatch, the removal or the quit, by reference count alone."""
    handler, payload = Handler(), Payload()
    reference = weakref.ref(payload)
    way(handler, payload)
    del payload
    assert reference() is not None
    end(driver, handler)
    return_spare_references()
    assert reference() is None
    capsys.readouterr()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.usefixtures("no_collector")
def test_refused_payloads_are_released(driver: LooperDriver, way: Callable[[Handler, Payload], None]) -> None:
    """A post after quit keeps nothing."""
    handler, payload = Handler(), Payload()
    reference = weakref.ref(payload)
    driver.looper.quit()
    way(handler, payload)
    del payload
    assert reference() is None


@pytest.mark.parametrize("way", WAYS)
def test_cycles_through_a_queue_are_collected(
    queue: QueueName, way: Callable[[Handler, Payload], None]
) -> None:
    """Looper, message, handler and payload refer to each other; nobody else does."""

    def make() -> "tuple[weakref.ref[object], ...]":
        looper = Looper(queue, virtual_clock=True)
        handler, payload = Handler(looper), Payload()
        payload.handler = handler  # type: ignore[attr-defined]  # makes the cycle
        way(handler, payload)
        return weakref.ref(looper), weakref.ref(handler), weakref.ref(payload)

    references = make()
    assert all(_is_gone(reference) for reference in references)


@pytest.mark.parametrize("way", WAYS)
def test_the_collector_leaves_pending_payloads_alone(
    driver: LooperDriver, way: Callable[[Handler, Payload], None], capsys: pytest.CaptureFixture[str]
) -> None:
    """What a living looper will run is not garbage, cycles or not."""
    handler, payload = Handler(), Payload()
    payload.handler = handler  # type: ignore[attr-defined]  # makes a cycle
    reference = weakref.ref(payload)
    way(handler, payload)
    del handler, payload
    gc.collect()
    assert reference() is not None
    driver.run_until_idle()
    capsys.readouterr()
    assert _is_gone(reference)


def test_collections_during_posts_and_dispatches(queue: QueueName) -> None:
    """The collector walks the queue while others post, remove and run."""
    with HandlerThread("ui", queue=queue) as thread:
        handler, ended, turns = Handler(thread.looper), threading.Event(), threading.Semaphore(0)

        def collect() -> None:
            # In turns: one collection after the other would stop all threads for good where there is no GIL.
            while turns.acquire() and not ended.is_set():
                gc.collect()

        collector = threading.Thread(target=collect)
        collector.start()
        for number in range(3_000):
            payload = Payload()
            payload.cycle = [payload, handler]  # type: ignore[attr-defined]  # something to collect
            WAYS[number % 2](handler, payload)
            handler.send(1, obj=payload)
            if number % 30 == 0:
                turns.release()
            if number % 100 == 0:
                handler.remove_all(None)
        ended.set()
        turns.release()
        collector.join()


def test_handlers_and_loopers_can_be_weakly_referenced(driver: LooperDriver) -> None:
    """Neither is kept by having been used."""
    handler = Handler()
    handler.post(len, "")
    reference = weakref.ref(handler)
    driver.run_until_idle()
    del handler
    assert _is_gone(reference)
    assert weakref.ref(driver.looper)() is driver.looper


def test_a_pending_message_keeps_its_handler(driver: LooperDriver) -> None:
    """A handler nobody else refers to still gets its messages."""
    seen: list[int] = []

    class Temporary(Handler):
        def handle_message(self, message: Message) -> None:
            seen.append(message.what)

    Temporary().send(7)
    gc.collect()
    driver.run_until_idle()
    assert seen == [7]


def test_releasing_may_run_anything(driver: LooperDriver) -> None:
    """A destructor that posts, removes and collects while its message is being dropped."""
    handler = Handler()
    ran: list[int] = []

    class Busy(Payload):
        def __del__(self) -> None:
            handler.post(ran.append, 1)
            handler.remove_callbacks(print)
            gc.collect()

    for _ in range(3):
        handler.post(Busy(), token=handler)
    handler.post(print)
    assert handler.remove_all(handler) == 3
    driver.run_until_idle()
    assert ran == [1, 1, 1]


def test_tasks_hear_that_they_were_dropped(driver: LooperDriver) -> None:
    """Once, by removal or quit; not when they ran, nor when the post was refused."""
    told: list[str] = []

    class Named(Task):
        def __init__(self, name: str) -> None:
            self.name = name

        def __call__(self) -> None:
            told.append(f"ran {self.name}")

        def dropped(self) -> None:
            told.append(f"dropped {self.name}")

    handler = Handler()
    handler.post(Named("1"))
    driver.step()
    handler.post(Named("2"), token=handler)
    handler.remove_all(handler)
    handler.schedule(Named("3"), 1).cancel()
    handler.post(Named("4"))
    driver.looper.quit()
    driver.step()
    handler.post(Named("5"))
    assert told == ["ran 1", "dropped 2", "dropped 3", "dropped 4"]


def test_subclasses_may_have_slots_and_state(driver: LooperDriver) -> None:
    """Handler is an ordinary class to derive from."""

    class Counter(Handler):
        __slots__ = ("count",)

        def __init__(self, looper: Looper) -> None:
            super().__init__(looper, asynchronous=True)
            self.count = 0

        def handle_message(self, message: Message) -> None:
            self.count += message.arg1

    counter = Counter(driver.looper)
    counter.send(1, 5)
    counter.send(1, 6)
    driver.run_until_idle()
    assert counter.count == 11
    assert counter.asynchronous
    assert counter.looper is driver.looper


def test_memory_is_flat_under_schedule_and_cancel(driver: LooperDriver) -> None:
    """Cancelled week-long delays are reclaimed though the looper never wakes for them."""
    handler = Handler()
    for _ in range(20_000):
        assert handler.schedule(len, 7 * 24 * 3600.0, "").cancel()
    assert driver.looper._pending() == []


def test_a_shared_handler_posts_as_before(ui: HandlerThread) -> None:
    """share() changes what is counted, not what is done; overridden methods stay overridden."""
    ran: list[object] = []

    class Loud(Handler):
        def post(self, callback: Callable[..., object], /, *args: object, token: object = None) -> bool:
            ran.append("posts")
            return super().post(callback, *args, token=token)

    handler = Loud(ui.looper)
    assert handler.share() is handler
    callback = share(lambda: ran.append("ran"))
    threads = [threading.Thread(target=handler.post, args=(callback,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    handler.send(1)
    handler.run_with_scissors(lambda: None)
    assert sorted(map(str, ran)) == ["posts"] * 5 + ["ran"] * 4


def test_payloads_shared_by_many_threads_go_when_all_have_run(queue: QueueName) -> None:
    """Threads that hold references in advance give them back before a collection and at their end."""
    payload = Payload()
    reference = weakref.ref(payload)
    with HandlerThread("ui", queue=queue) as thread:
        handler = Handler(thread.looper)

        def post(payload: Payload) -> None:
            for _ in range(3_000):
                handler.post(payload)
                handler.post(payload.method)

        threads = [threading.Thread(target=post, args=(payload,)) for _ in range(3)]
        for producer in threads:
            producer.start()
        for producer in threads:
            producer.join()
        del threads, producer, payload
        handler.run_with_scissors(lambda: None)
        assert _is_gone(reference)


def _churn(handlers: list[Handler], payloads: list[Payload], seed: int) -> None:
    choose = random.Random(seed)
    for _ in range(1_000):
        handler, payload = choose.choice(handlers), choose.choice(payloads)
        operation: Callable[[], object] = choose.choice(
            [
                lambda: handler.post(payload),  # noqa: B023  called at once
                lambda: handler.post_delayed(payload.method, 0.001, token=payload),  # noqa: B023
                lambda: handler.schedule(payload, 5).cancel(),  # noqa: B023
                lambda: handler.remove_callbacks(payload),  # noqa: B023
                lambda: handler.send(1, obj=payload),  # noqa: B023
                lambda: handler.remove_all(payload),  # noqa: B023
            ]
        )
        operation()


def test_references_balance_under_churn(queue: QueueName) -> None:
    """Threads come and go, remove, collect: in the end nothing is kept, and nothing was freed twice."""
    payloads = [Payload() for _ in range(50)]
    references = [weakref.ref(payload) for payload in payloads]
    with HandlerThread("a", queue=queue) as a, HandlerThread("b", queue=queue) as b:
        handlers = [Handler(a.looper), Handler(b.looper)]
        for round_ in range(3):
            with ThreadPoolExecutor(5) as pool:
                churning = [pool.submit(_churn, handlers, payloads, 10 * round_ + n) for n in range(4)]
                collecting = [pool.submit(gc.collect) for _ in range(10)]
                assert [future.result() for future in churning] == [None] * 4
                assert all(future.result() >= 0 for future in collecting)
            del churning, collecting
    del payloads, handlers
    assert all(_is_gone(reference) for reference in references)
