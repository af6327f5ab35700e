"""Messages of loopers in the trace: posts, dispatches, flows, lengths of queues."""

from pathlib import Path
from typing import Any

import pytest
from tests.looper.extension import load_extension
from tests.record.recordings import Recorded, Slice, read_slices, record_program

import unjank
from unjank import Handler, HandlerThread, TraceProcessor
from unjank.looper import LooperDriver

CLOCK = """
    import functools
    from unjank import Handler, HandlerThread

    class Clock(Handler):
        def handle_message(self, message): pass
        def tick(self, *args): pass

    def wind(clock):
        clock.post(clock.tick, 1)

    with HandlerThread("ui") as ui:
        clock = Clock(ui.looper)
        winder = threading.Thread(target=wind, args=(clock,), name="winder")
        winder.start(); winder.join()
        clock.send(7)
        clock.post(functools.partial(clock.tick, 2))
        clock.post(time.sleep, 0)
        clock.post_delayed(clock.tick, 3600)
        clock.run_with_scissors(lambda: None)
        clock.remove_callbacks(clock.tick)
        clock.run_with_scissors(lambda: None)
"""

WRAPPED = """
    import functools
    from unjank import Handler, HandlerThread
    from unjank.looper import HandlerExecutor

    @functools.lru_cache
    def cached(): pass
    def submitted(): pass
    def awaited(): pass
    class Itself:
        def __init__(self): self.__wrapped__ = self
        def __call__(self): pass
    class Curious:
        def __getattr__(self, name): raise SystemExit("asked for " + name)
        def __call__(self): pass

    with HandlerThread("ui") as ui:
        handler = Handler(ui.looper)
        handler.post(cached)
        HandlerExecutor(handler).submit(functools.partial(submitted)).result()
        handler.post(Itself())
        handler.post(Curious())
        handler.run_with_scissors(awaited)
"""

_FLOWS = """
select p.name as post, d.name as dispatch, d.ts - p.ts as queued
from flow f join slice p on p.id = f.slice_out join slice d on d.id = f.slice_in
where p.category = 'mq' and d.category = 'mq'
"""
_LENGTHS = """
select track.name, thread.name as thread, cast(counter.value as int) as value
from counter join thread_counter_track track on track.id = counter.track_id join thread using (utid)
order by counter.ts, counter.id
"""


def mq(recorded: Recorded, kind: str) -> list[Slice]:
    """The posts or dispatches of a recording."""
    return [piece for piece in recorded.named(f"{kind} ") if piece.category == "mq"]


def query(trace: Path, sql: str) -> list[Any]:
    """The rows of a query."""
    with TraceProcessor(trace) as tp:
        return list(tp.query(sql))


@pytest.fixture(scope="module")
def clock(tmp_path_factory: pytest.TempPathFactory) -> tuple[Recorded, Path]:
    """The program above, recorded."""
    folder = tmp_path_factory.mktemp("clock")
    recorded = record_program(folder, CLOCK)
    assert recorded.exit_code == 0, recorded.stderr
    return recorded, folder / "out.pftrace"


def test_posts_are_on_the_posters_track_with_their_call_site(clock: tuple[Recorded, Path]) -> None:
    """Who posted, from which line, what for, and when it is due."""
    (post,) = [piece for piece in mq(clock[0], "post") if piece.thread == "winder"]
    assert (post.name, post.dur) == ("post Clock.tick", 0)
    assert post.args["site"] == "void wind()(prog.py:23)"
    assert post.args["callback"] == "Clock.tick (prog.py:20)"
    assert post.args["handler"] == "Clock"
    assert post.args["due_in_ns"] == 0
    assert "what" not in post.args
    (later,) = [piece for piece in mq(clock[0], "post") if piece.args["due_in_ns"] > 10**9]
    assert 3590 * 10**9 < later.args["due_in_ns"] <= 3600 * 10**9


def test_dispatches_are_slices_of_the_looper(clock: tuple[Recorded, Path]) -> None:
    """What ran, in order, how late; messages with their code."""
    dispatches = mq(clock[0], "dispatch")
    assert {piece.thread for piece in dispatches} == {"ui"}
    assert [piece.name.removeprefix("dispatch ") for piece in dispatches[:4]] == [
        "Clock.tick",
        "Clock.handle_message",
        "Clock.tick",
        "sleep",
    ]
    assert [piece.args.get("what") for piece in dispatches[:4]] == [None, 7, None, None]
    assert all(piece.dur >= 0 and piece.args["delay_ns"] >= 0 for piece in dispatches)
    tids = {piece.tid for piece in dispatches}
    assert {piece.args["looper_tid"] for piece in mq(clock[0], "post")} == tids


def test_wrappers_are_called_after_what_they_wrap(tmp_path: Path) -> None:
    """Work of executors, scissors, a cached function; others by class, without running their code."""
    recorded = record_program(tmp_path, WRAPPED)
    assert recorded.exit_code == 0, recorded.stderr
    names = ["cached", "submitted", "Itself", "Curious", "awaited"]
    assert [piece.name for piece in mq(recorded, "dispatch")] == [f"dispatch {name}" for name in names]


def test_a_flow_leads_from_each_post_to_its_dispatch(clock: tuple[Recorded, Path]) -> None:
    """One flow per message that ran, none for the one that was removed."""
    flows = query(clock[1], _FLOWS)
    assert len(flows) == len(mq(clock[0], "dispatch")) == len(mq(clock[0], "post")) - 1
    assert all(row.post[5:] == row.dispatch[9:] and row.queued > 0 for row in flows)


def test_the_queues_length_is_a_counter_of_the_looper(clock: tuple[Recorded, Path]) -> None:
    """It has the delayed message until that is removed, and ends at 0."""
    rows = query(clock[1], _LENGTHS)
    assert {(row.name, row.thread) for row in rows} == {("messages pending (looper 1)", "ui")}
    values = [row.value for row in rows]
    assert max(values) >= 2
    assert values[-1] == 0


def test_messages_are_no_lock_contention(clock: tuple[Recorded, Path]) -> None:
    """A looper that waits for messages, and posts to it, wait for no lock."""
    assert [piece for piece in clock[0].contentions if piece.thread == "ui"] == []
    assert [piece for piece in clock[0].named("wait ") if piece.thread == "ui"] == []


def test_a_backlog_is_counted_exactly(tmp_path: Path) -> None:
    """While the looper is held up the counter climbs with each post; then each dispatch takes one off."""
    source = """
        from unjank import Handler, HandlerThread
        gate, held = threading.Event(), threading.Event()
        with HandlerThread("ui") as ui:
            handler = Handler(ui.looper)
            handler.post(lambda: (held.set(), gate.wait()))
            held.wait()
            for _ in range(500): handler.post(len, ())
            gate.set()
            handler.run_with_scissors(lambda: None)
    """
    recorded = record_program(tmp_path, source)
    assert recorded.exit_code == 0, recorded.stderr
    values = [row.value for row in query(tmp_path / "out.pftrace", _LENGTHS)]
    assert values[2:502] == list(range(1, 501))
    assert values[-1] == 0
    assert max(values) in (500, 501)


def test_a_driver_has_no_delays(tmp_path: Path) -> None:
    """A clock that stands still tells no real lateness: the figure is left out. In a block, on one thread."""
    with unjank.record(tmp_path / "out.pftrace", sched="off"), LooperDriver() as driver:
        handler = Handler()
        handler.post_delayed(len, 5, ())
        driver.advance(5)
    (post,) = [piece for piece in read_slices(tmp_path / "out.pftrace") if piece.name == "post len"]
    (run,) = [piece for piece in read_slices(tmp_path / "out.pftrace") if piece.name == "dispatch len"]
    assert "due_in_ns" not in post.args
    assert "delay_ns" not in run.args
    assert post.args["site"].startswith("void test_a_driver_has_no_delays()(test_mq.py:")


def test_posts_from_c_are_recorded(tmp_path: Path) -> None:
    """From threads that Python does not know: no call site and no handler, but flow, delay and thread."""
    producer = load_extension("producer.c", tmp_path)
    with unjank.record(tmp_path / "out.pftrace", sched="off"), HandlerThread("ui") as ui:
        assert producer.produce(ui.looper, 10, 0) == 10
        Handler(ui.looper).run_with_scissors(lambda: None)
    posts = [piece for piece in read_slices(tmp_path / "out.pftrace") if piece.name == "post C function"]
    assert len(posts) >= 10
    assert {piece.args["site"] for piece in posts} == {"void unknown()(unknown:0)"}
    assert not [piece for piece in posts if "handler" in piece.args or "what" in piece.args]
    flows = query(tmp_path / "out.pftrace", _FLOWS)
    assert sum(row.dispatch == "dispatch C function" for row in flows) == len(posts)


def test_a_dispatch_that_raises_ends(tmp_path: Path) -> None:
    """An exception that leaves the loop passes the recorder by; the next dispatch is beside it."""

    def interrupt() -> None:
        raise KeyboardInterrupt

    with unjank.record(tmp_path / "out.pftrace", sched="off"), LooperDriver() as driver:
        handler = Handler()
        handler.post(interrupt)
        handler.post(len, ())
        with pytest.raises(KeyboardInterrupt):
            driver.step()
        driver.step()
    runs = [piece for piece in read_slices(tmp_path / "out.pftrace") if piece.name.startswith("dispatch ")]
    assert [piece.name.rpartition(".")[2] for piece in runs] == ["interrupt", "dispatch len"]
    assert runs[0].dur >= 0
    assert runs[0].ts + runs[0].dur <= runs[1].ts


def test_nothing_is_told_outside_of_a_recording(tmp_path: Path) -> None:
    """Before and after the block nobody listens; a dispatch that is under way still ends."""
    recording = unjank.record(tmp_path / "out.pftrace", sched="off")
    with LooperDriver() as driver:
        handler = Handler()
        handler.post(recording.start)
        handler.post(abs, 1)
        handler.post(recording.stop)
        handler.post(len, ())
        driver.run_until_idle()
    names = [piece.name for piece in read_slices(tmp_path / "out.pftrace") if piece.category == "mq"]
    assert names == ["dispatch abs", "dispatch Recording.stop"]


def test_recording_does_not_load_loopers(tmp_path: Path) -> None:
    """A program without loopers does not get their modules; one that imports them later is recorded."""
    source = """
        print([name for name in sys.modules if "looper" in name])
        def main():
            from unjank import Handler
            from unjank.looper import LooperDriver
            with LooperDriver() as driver:
                Handler().post(len, ())
                driver.run_until_idle()
        main()
    """
    recorded = record_program(tmp_path, source)
    assert recorded.stdout == "[]\n", recorded.stderr
    assert [piece.name for piece in mq(recorded, "dispatch")] == ["dispatch len"]
    assert [piece.args["site"] for piece in mq(recorded, "post")] == ["void main()(prog.py:20)"]


def test_posts_that_found_the_ring_full_are_counted(tmp_path: Path) -> None:
    """Posts faster than they are written: what is not in the trace is in the number of dropped events."""
    source = """
        from unjank import Handler
        from unjank.looper import LooperDriver
        with LooperDriver() as driver:
            handler = Handler()
            for _ in range(200_000): handler.post(len, ())
    """
    recorded = record_program(tmp_path, source)
    dropped = sum(piece.args["count"] for piece in recorded.named("events dropped"))
    # The queue's end is an event too, and may be among the dropped.
    assert len(mq(recorded, "post")) + dropped in (200_000, 200_001)
    (end,) = recorded.named("session end")
    assert end.args["dropped"] == dropped


def test_a_forked_childs_messages_are_its_own(tmp_path: Path) -> None:
    """Flows never lead from one process to the other, though addresses are alike."""
    source = """
        from unjank import Handler, Looper
        from unjank.looper import LooperDriver
        def one():
            with LooperDriver() as driver:
                Handler().post(len, ())
                driver.run_until_idle()
        one()
        child = os.fork()
        one()
        if child: os.waitpid(child, 0)
    """
    recorded = record_program(tmp_path, source)
    assert recorded.exit_code == 0, recorded.stderr
    flows = query(tmp_path / "out.pftrace", _FLOWS)
    assert len(flows) == len(mq(recorded, "dispatch")) == 3
    assert len({piece.pid for piece in mq(recorded, "dispatch")}) == 2
