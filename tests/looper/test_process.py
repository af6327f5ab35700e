"""Fork, signals, and the interpreter's end: whole programs."""

import subprocess
import sys
import textwrap

import pytest

TIMEOUT_S = 60

# await_sleep(tid) returns once that thread sleeps in its poller: it is off the CPU and stays so while this
# thread leaves it the GIL; one that is merely kept off the CPU is runnable, not sleeping.
PRELUDE = """
import os, time
def cpu_ns(tid):
    with open(f"/proc/self/task/{tid}/schedstat") as file:
        return int(file.read().split()[0])
def sleeps(tid):
    with open(f"/proc/self/task/{tid}/stat") as file:
        return file.read().rpartition(")")[2].split()[0] == "S"
def await_sleep(tid):
    while True:
        before = cpu_ns(tid)
        time.sleep(0.02)
        if sleeps(tid) and cpu_ns(tid) == before:
            return
def await_main_sleep(looper):
    while not looper._running or not looper.is_idle():
        time.sleep(0.001)  # polled: nothing tells that a loop has begun
    await_sleep(os.getpid())
"""


def run(program: str) -> "subprocess.CompletedProcess[str]":
    """Runs a program to its end."""
    return subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", PRELUDE + textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )


def assert_prints(program: str, expected: str) -> None:
    """It ends well, prints this, and complains of nothing."""
    ended = run(program)
    assert (ended.returncode, ended.stdout.strip(), ended.stderr) == (0, expected, "")


@pytest.mark.parametrize("queue", ["lockfree", "locked"])
def test_exit_with_pending_messages(queue: str) -> None:
    """No hang, no crash, no output: a running thread, an idle main looper, messages due and not due."""
    assert_prints(
        f"""
        from unjank import Handler, HandlerThread, Looper
        thread = HandlerThread("ui", queue={queue!r})
        thread.start()
        main = Handler(Looper.prepare({queue!r}))
        main.post(print, "never")
        handler = Handler(thread.looper)
        for n in range(1000):
            handler.post_delayed(print, 3600, "never", token=handler)
        handler.run_with_scissors(lambda: None)
        print("end")
        """,
        "end",
    )


def test_exit_while_the_looper_is_busy() -> None:
    """The end waits for the callback that runs, and drops what is behind it."""
    assert_prints(
        """
        import threading, time
        from unjank import Handler, HandlerThread
        thread, begun = HandlerThread("ui"), threading.Event()
        thread.start()
        def work():
            begun.set()
            time.sleep(0.2)
            print("worked", flush=True)
        handler = Handler(thread.looper)
        handler.post(work)
        handler.post(print, "never")
        begun.wait()
        """,
        "worked",
    )


def test_exit_while_threads_post() -> None:
    """Daemon threads that post until the very end."""
    assert_prints(
        """
        import threading
        from unjank import Handler, HandlerThread
        thread = HandlerThread("ui")
        thread.start()
        handler, begun = Handler(thread.looper), threading.Barrier(4)
        def flood():
            begun.wait()
            while True:
                handler.post(len, "")
        for _ in range(3):
            threading.Thread(target=flood, daemon=True).start()
        begun.wait()
        print("end")
        """,
        "end",
    )


def test_ctrl_c_leaves_run() -> None:
    """A signal that comes while the main looper sleeps: KeyboardInterrupt out of run()."""
    assert_prints(
        """
        import os, signal, threading, time
        from unjank import Handler, Looper
        looper = Looper.prepare()
        handler = Handler()
        def interrupt():
            await_main_sleep(looper)
            os.kill(os.getpid(), signal.SIGINT)
        threading.Thread(target=interrupt).start()
        try:
            looper.run()
        except KeyboardInterrupt:
            print("interrupted")
        handler.post(print, "goes on")
        handler.post(looper.quit)
        looper.run()
        print(signal.set_wakeup_fd(-1))
        """,
        "interrupted\ngoes on\n-1",
    )


def test_ctrl_c_leaves_run_though_others_listen_to_signals() -> None:
    """Another wake-up descriptor stays, and a signal that restarts system calls ends the sleep even so."""
    assert_prints(
        """
        import os, signal, socket, threading
        from unjank import Looper
        ours, theirs = socket.socketpair()
        theirs.setblocking(False)
        signal.set_wakeup_fd(theirs.fileno())
        signal.siginterrupt(signal.SIGINT, False)
        looper = Looper.prepare()
        def interrupt():
            await_main_sleep(looper)
            os.kill(os.getpid(), signal.SIGINT)
        threading.Thread(target=interrupt).start()
        try:
            looper.run()
        except KeyboardInterrupt:
            print("interrupted")
        print(signal.set_wakeup_fd(-1) == theirs.fileno(), ours.recv(1)[0] == signal.SIGINT)
        """,
        "interrupted\nTrue True",
    )


def test_a_signal_during_a_builtin_callback_is_handled_before_the_sleep() -> None:
    """It interrupts no sleep, and no Python frame comes after it."""
    assert_prints(
        """
        import ctypes, signal, socket
        from unjank import Handler, Looper
        ours, theirs = socket.socketpair()
        theirs.setblocking(False)
        signal.set_wakeup_fd(theirs.fileno())
        signal.signal(signal.SIGINT, signal.default_int_handler)
        looper = Looper.prepare()
        Handler().post(getattr(ctypes.CDLL(None), "raise"), int(signal.SIGINT))
        try:
            looper.run()
        except KeyboardInterrupt:
            print("interrupted")
        """,
        "interrupted",
    )


def test_a_signal_taken_by_another_thread_wakes_the_main_looper() -> None:
    """The main thread blocks the signal, so its sleep is not interrupted; Python's handler still runs."""
    assert_prints(
        """
        import os, signal, threading, time
        from unjank import Looper
        looper = Looper.prepare()
        signal.signal(signal.SIGUSR1, lambda *_: looper.quit())
        def take():
            await_main_sleep(looper)
            signal.pthread_kill(threading.get_ident(), signal.SIGUSR1)
        threading.Thread(target=take).start()
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
        looper.run()
        print("quit by handler")
        """,
        "quit by handler",
    )


def test_ctrl_c_interrupts_a_flood_of_builtin_callbacks() -> None:
    """No Python frame runs between the dispatches, and signals are handled even so."""
    assert_prints(
        """
        import os, signal, threading
        from unjank import Handler, Looper
        looper = Looper.prepare()
        handler = Handler()
        def interrupt():
            os.kill(os.getpid(), signal.SIGINT)
        for _ in range(2000):
            handler.post(handler.post, len, "")
        handler.post(threading.Thread(target=interrupt).start)
        from functools import partial
        again = partial(print)
        again.__setstate__((handler.post, (again,), {}, None))  # posts itself for ever, without Python code
        handler.post(again)
        try:
            looper.run()
        except KeyboardInterrupt:
            print("interrupted")
        """,
        "interrupted",
    )


@pytest.mark.parametrize("queue", ["lockfree", "locked"])
def test_a_forked_child_gets_a_clear_state(queue: str) -> None:
    """There the parent's loopers refuse posts and do not run; a new one works. The parent's go on."""
    assert_prints(
        f"""
        import os, sys
        from unjank import Handler, HandlerThread, Looper, LooperError
        from unjank.looper import FdEvent
        parents = Looper.prepare({queue!r})
        mine = Handler()
        mine.post(len, "")
        with HandlerThread("ui", queue={queue!r}) as thread:
            handler = Handler(thread.looper)
            handler.post_delayed(print, 3600)
            pid = os.fork()
            if pid == 0:
                print(Looper.current(), handler.post(print), handler.send(1), handler.has_callbacks(print))
                print(handler.remove_all(None), bool(handler.schedule(print, 1)), thread.looper.closed)
                for attempt in (parents.run, lambda: thread.looper.add_fd_listener(0, FdEvent.INPUT, print)):
                    try:
                        attempt()
                    except LooperError as error:
                        print(error)
                looper = Looper.prepare({queue!r})
                Handler().post(print, "child runs")
                Handler().post(looper.quit)
                looper.run()
                with HandlerThread("child", queue={queue!r}) as own:
                    Handler(own.looper).run_with_scissors(lambda: print("child thread runs"))
                del parents, mine, handler
                sys.stdout.flush()
                os._exit(0)
            assert os.waitpid(pid, 0)[1] == 0
            handler.run_with_scissors(lambda: print("parent runs"))
        """,
        "None False False False\n"
        "0 False True\n"
        "this looper belongs to the parent process; after a fork make a new one with Looper.prepare()\n"
        "this looper belongs to the parent process; make a new one with Looper.prepare()\n"
        "child runs\nchild thread runs\nparent runs",
    )


def test_a_fork_inside_a_callback_ends_the_childs_loop() -> None:
    """The child's copy of the running loop does not touch the parent's descriptors."""
    assert_prints(
        """
        import os, sys
        from unjank import Handler, Looper, LooperError
        looper = Looper.prepare()
        handler = Handler()
        pids = []
        handler.post(lambda: pids.append(os.fork()))
        handler.post_delayed(looper.quit, 0.05)
        try:
            looper.run()
        except LooperError as error:
            print(error, flush=True)
            os._exit(0)
        os.waitpid(pids[0], 0)
        print("parent quit")
        """,
        "this looper belongs to the parent process; after a fork make a new one with Looper.prepare()\n"
        "parent quit",
    )


def test_closed_descriptors_do_not_matter_to_a_looper_without_listeners() -> None:
    """Somebody closes all descriptors under a sleeping looper: it needs none."""
    assert_prints(
        """
        import os
        from unjank import Handler, HandlerThread
        with HandlerThread("ui") as thread:
            handler = Handler(thread.looper)
            handler.run_with_scissors(lambda: None)
            await_sleep(thread.native_id)
            os.closerange(3, 100)
            handler.run_with_scissors(lambda: print("awake"))
        """,
        "awake",
    )


def test_closed_descriptors_are_an_error_not_a_hang() -> None:
    """The same under a looper that listens to descriptors: posts that must wake it say so."""
    ended = run(
        """
        import os
        from unjank import Handler, HandlerThread, LooperError
        from unjank.looper import FdEvent
        thread = HandlerThread("ui")
        thread.start()
        reader, writer = os.pipe()
        thread.looper.add_fd_listener(reader, FdEvent.INPUT, lambda fd, events: None)
        handler = Handler(thread.looper)
        handler.run_with_scissors(lambda: None)
        await_sleep(thread.native_id)
        os.closerange(3, 100)
        try:
            for _ in range(3): handler.post(len, "")
        except LooperError as error:
            print(error, flush=True)
        os._exit(0)
        """
    )
    assert "could not be woken: Bad file descriptor" in ended.stdout
    assert "closed descriptors that it did not open" in ended.stdout


def test_idle_costs_no_cpu() -> None:
    """A looper that sleeps, also until a far deadline, uses no CPU time at all."""
    assert_prints(
        """
        import time
        from unjank import Handler, HandlerThread
        with HandlerThread("ui") as thread:
            handler = Handler(thread.looper)
            handler.post_delayed(len, 3600, "")
            handler.run_with_scissors(lambda: None)
            await_sleep(thread.native_id)
            before = cpu_ns(thread.native_id)
            time.sleep(0.5)
            print(cpu_ns(thread.native_id) - before)
        """,
        "0",
    )
