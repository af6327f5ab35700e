"""Loopers and posters on several threads."""

import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from unjank import Handler, HandlerThread, Looper, LooperError, Message
from unjank.looper._looper_class import QueueName

PRODUCERS = 4
POSTS = 2_000


def test_the_thread_has_its_name_and_looper(ui: HandlerThread) -> None:
    """What runs there sees the thread's looper as the current one."""
    seen: list[object] = []
    Handler(ui.looper).run_with_scissors(
        lambda: seen.extend((threading.current_thread(), Looper.current(), ui.looper.is_current_thread()))
    )
    assert seen == [ui, ui.looper, True]
    assert ui.looper.name == "ui"
    assert not ui.looper.is_current_thread()


def test_nice_and_cpus_are_set() -> None:
    """The thread's own, not the process's."""
    cpu = min(os.sched_getaffinity(0))
    seen: list[object] = []
    nice = os.getpriority(os.PRIO_PROCESS, 0)
    with HandlerThread("background", nice=nice + 1, cpus=[cpu]) as thread:
        Handler(thread.looper).run_with_scissors(
            lambda: seen.extend(
                (os.sched_getaffinity(0), os.getpriority(os.PRIO_PROCESS, threading.get_native_id()))
            )
        )
    assert seen == [{cpu}, nice + 1]
    assert os.getpriority(os.PRIO_PROCESS, threading.get_native_id()) == nice


def test_on_looper_prepared_runs_first() -> None:
    """On the thread, before any message."""
    order: list[str] = []

    class Prepared(HandlerThread):
        def on_looper_prepared(self) -> None:
            order.append("prepared")

    with Prepared("ui") as thread:
        Handler(thread.looper).post(order.append, "message")
    assert order == ["prepared", "message"]


def test_leaving_the_with_block_runs_what_is_due(queue: QueueName) -> None:
    """All that was posted without delay has run; what was delayed is dropped."""
    ran: list[int] = []
    with HandlerThread("ui", queue=queue) as thread:
        handler = Handler(thread.looper)
        for number in range(1000):
            assert handler.post(ran.append, number)
        assert handler.post_delayed(ran.append, 3600, -1)
    assert ran == list(range(1000))
    assert not handler.post(ran.append, 0)
    assert not thread.is_alive()
    assert not thread.quit()


def test_delayed_posts_run_when_due_not_before(ui: HandlerThread) -> None:
    """The real clock: in order of due time, each at or after it."""
    ran: list[tuple[float, float]] = []
    ended = threading.Event()
    handler = Handler(ui.looper)
    start = time.monotonic()
    for delay in (0.03, 0.01, 0.02):
        handler.post_delayed(lambda d=delay: ran.append((d, time.monotonic() - start)), delay)
    handler.post_delayed(ended.set, 0.04)
    ended.wait()
    assert [delay for delay, _ in ran] == [0.01, 0.02, 0.03]
    assert all(after >= delay for delay, after in ran)


def _posts(handler: Handler, ran: list[tuple[int, int]], producer: int) -> int:
    return sum(handler.post(ran.append, (producer, number)) for number in range(POSTS))


def test_producers_lose_and_double_nothing_and_keep_their_order(queue: QueueName) -> None:
    """Each accepted post runs once, those of one producer in its order."""
    ran: list[tuple[int, int]] = []
    with HandlerThread("ui", queue=queue) as thread, ThreadPoolExecutor(PRODUCERS) as pool:
        handler = Handler(thread.looper)
        futures = [pool.submit(_posts, handler, ran, producer) for producer in range(PRODUCERS)]
        assert [future.result() for future in futures] == [POSTS] * PRODUCERS
    for producer in range(PRODUCERS):
        assert [number for who, number in ran if who == producer] == list(range(POSTS))


def test_what_was_accepted_before_quit_safely_runs(queue: QueueName) -> None:
    """Quit races posts: exactly those that were answered True run."""
    for _ in range(20):
        ran: list[tuple[int, int]] = []
        thread = HandlerThread("ui", queue=queue)
        thread.start()
        handler = Handler(thread.looper)
        with ThreadPoolExecutor(PRODUCERS) as pool:
            futures = [pool.submit(_posts, handler, ran, producer) for producer in range(PRODUCERS)]
            pool.submit(thread.quit_safely)
            accepted = sum(future.result() for future in futures)
        thread.join()
        assert len(ran) == accepted


def test_the_last_lone_message_is_not_lost(ui: HandlerThread) -> None:
    """One message at a time to a looper that falls asleep in between; nobody retries."""
    handler, ran = Handler(ui.looper), threading.Semaphore(0)
    for _ in range(3_000):
        assert handler.post(ran.release)
        assert ran.acquire(timeout=30)


def test_two_loopers_play_ping_pong(queue: QueueName) -> None:
    """Wake-ups in both directions; neither side polls."""
    ended = threading.Event()
    with HandlerThread("left", queue=queue) as left, HandlerThread("right", queue=queue) as right:
        handlers = [Handler(left.looper), Handler(right.looper)]

        def play(left_over: int) -> None:
            if left_over == 0:
                ended.set()
            else:
                handlers[left_over % 2].post(play, left_over - 1)

        play(2_000)
        assert ended.wait(60)


def test_posters_and_removers_at_once(ui: HandlerThread) -> None:
    """Each message runs or is counted by the remover that took it, never both."""
    handler, ran, token = Handler(ui.looper), [0], object()

    def run() -> None:
        ran[0] += 1

    def post() -> int:
        return sum(handler.post(run, token=token) for _ in range(POSTS))

    def remove() -> int:
        return sum(handler.remove_all(token) for _ in range(POSTS // 10))

    with ThreadPoolExecutor(PRODUCERS) as pool:
        posting = [pool.submit(post) for _ in range(2)]
        removing = [pool.submit(remove) for _ in range(2)]
        posted = sum(future.result() for future in posting)
        removed = sum(future.result() for future in removing)
    removed += handler.remove_all(token)
    handler.run_with_scissors(lambda: None)
    assert ran[0] + removed == posted == 2 * POSTS


def test_scissors_wait_and_tell(ui: HandlerThread) -> None:
    """True after it ran; the callback's exception is the caller's."""
    handler = Handler(ui.looper)
    ran: list[object] = []
    assert handler.run_with_scissors(lambda: ran.append(threading.current_thread()))
    assert ran == [ui]
    with pytest.raises(ZeroDivisionError):
        handler.run_with_scissors(lambda: 1 / 0)


def test_scissors_on_the_own_thread_do_not_wait(ui: HandlerThread) -> None:
    """There the callback is called at once."""
    handler = Handler(ui.looper)
    order: list[str] = []

    def outer() -> None:
        handler.run_with_scissors(lambda: order.append("inner"))
        order.append("outer")

    handler.run_with_scissors(outer)
    assert order == ["inner", "outer"]


def test_scissors_time_out_and_take_the_message_back(ui: HandlerThread) -> None:
    """What had not begun by then never runs."""
    handler, gate, ran = Handler(ui.looper), threading.Event(), []
    handler.post(gate.wait)
    assert not handler.run_with_scissors(lambda: ran.append(1), timeout=0.01)
    gate.set()
    assert handler.run_with_scissors(lambda: None)
    assert ran == []


def test_scissors_on_a_looper_that_quits_return(ui: HandlerThread) -> None:
    """The waiter is let go, and told that nothing ran."""
    handler, gate = Handler(ui.looper), threading.Event()
    handler.post(gate.wait)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(handler.run_with_scissors, lambda: None)
        while not handler.looper._pending():
            time.sleep(0.001)
        ui.quit()
        gate.set()
        assert waiting.result(30) is False
    ui.join()
    assert handler.run_with_scissors(lambda: None) is False


def test_a_thread_that_ends_without_quitting_leaves_a_dead_looper(queue: QueueName) -> None:
    """Its looper refuses posts, and what was pending is released."""
    handlers: list[Handler] = []

    def prepare() -> None:
        handlers.append(Handler(Looper.prepare(queue)))
        handlers[0].post(print)

    thread = threading.Thread(target=prepare)
    thread.start()
    thread.join()
    assert not handlers[0].post(print)
    assert not handlers[0].has_callbacks(print)
    assert handlers[0].looper.closed


def test_main_looper_is_found_from_other_threads(ui: HandlerThread) -> None:
    """Looper.main() makes it on the main thread, and names it everywhere."""
    main = Looper.main()
    try:
        assert Looper.main() is main is Looper.current()
        found: list[object] = []
        Handler(ui.looper).run_with_scissors(lambda: found.append(Looper.main()))
        assert found == [main]
    finally:
        main.quit()
        main.run()


def test_idle_and_dump_from_another_thread(ui: HandlerThread) -> None:
    """is_idle() tells of due messages only; dump() names what is pending, earliest first."""
    handler, gate = Handler(ui.looper), threading.Event()
    handler.run_with_scissors(lambda: None)
    assert ui.looper.is_idle()
    handler.post_delayed(print, 3600)
    assert ui.looper.is_idle()
    handler.post(gate.wait)
    handler.send(42, delay=1800)
    handler.post(print)
    assert not ui.looper.is_idle()
    text = ui.looper.dump("> ")
    gate.set()
    assert all(line.startswith("> ") for line in text.splitlines())
    assert text.index("what=42") > text.index("callback")
    assert "'ui' open" in text


class Raising(Handler):
    """Raises in handle_message()."""

    def handle_message(self, message: Message) -> None:
        """Raises."""
        raise ValueError(message.what)


@pytest.mark.parametrize(
    "provoke",
    [
        lambda handler: handler.post(lambda: 1 / 0),
        lambda handler: handler.send(3),
        lambda handler: handler.post([].pop),
        lambda handler: handler.send_message(Message(callback=lambda: 1 / 0)),
    ],
)
def test_exceptions_go_to_the_hook_and_the_loop_goes_on(
    ui: HandlerThread, provoke: Callable[[Handler], object]
) -> None:
    """The hook is told what raised, and where."""
    told: list[tuple[type, str]] = []
    ui.looper.exception_hook = lambda raised, dispatch: told.append((type(raised), str(dispatch)))
    handler = Raising(ui.looper)
    provoke(handler)
    assert handler.run_with_scissors(lambda: None)
    ((kind, where),) = told
    assert issubclass(kind, (ZeroDivisionError, ValueError, IndexError))
    assert "lambda" in where or "pop" in where or where == "message 3 to Raising"


def test_without_a_hook_exceptions_are_printed(ui: HandlerThread, capfd: pytest.CaptureFixture[str]) -> None:
    """Traceback, looper and callback on stderr."""
    handler = Handler(ui.looper)
    handler.post(lambda: 1 / 0)
    handler.run_with_scissors(lambda: None)
    text = capfd.readouterr().err
    assert "looper 'ui'" in text
    assert "ZeroDivisionError" in text
    assert "exception_hook" in text


def test_a_hook_that_raises_does_not_end_the_loop(
    ui: HandlerThread, capfd: pytest.CaptureFixture[str]
) -> None:
    """Both exceptions are printed."""

    def hook(raised: BaseException, dispatch: object) -> None:
        raise KeyError("hook")

    ui.looper.exception_hook = hook
    handler = Handler(ui.looper)
    handler.post(lambda: 1 / 0)
    assert handler.run_with_scissors(lambda: None)
    text = capfd.readouterr().err
    assert "ZeroDivisionError" in text
    assert "KeyError" in text


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_interrupts_leave_the_loop_which_may_go_on(queue: QueueName, kind: type[BaseException]) -> None:
    """run() raises them; what was pending is still there for the next run()."""
    looper = Looper.prepare(queue)
    handler = Handler()
    ran: list[int] = []

    def interrupt() -> None:
        raise kind

    handler.post(interrupt)
    handler.post(ran.append, 1)
    with pytest.raises(kind):
        looper.run()
    assert ran == []
    handler.post(looper.quit)
    looper.run()
    assert ran == [1]


def test_a_looper_error_of_a_caller_thread_is_not_the_loopers(ui: HandlerThread) -> None:
    """A poster's mistake leaves the loop alone."""
    with pytest.raises(LooperError):
        Handler()
    assert Handler(ui.looper).run_with_scissors(lambda: None)
