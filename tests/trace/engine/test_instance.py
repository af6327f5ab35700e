"""One engine: its life, its death, and that neither touches others."""

import gc
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from perfetto.trace_processor.platform import PlatformDelegate
from perfetto.trace_processor.protos import ProtoFactory

from unjank.trace.backend import EngineBackend
from unjank.trace.errors import EngineDiedError, EngineUnavailableError

_COUNT_TO_10 = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 10) SELECT x FROM c"


@pytest.fixture(scope="module")
def protos() -> ProtoFactory:
    """Perfetto's message classes."""
    return ProtoFactory(PlatformDelegate())


@pytest.fixture(params=[32, 64], ids=["wasm32", "memory64"])
def backend(request: pytest.FixtureRequest, protos: ProtoFactory) -> Iterator[EngineBackend]:
    """An engine with no trace."""
    made = EngineBackend(protos, request.param)
    yield made
    made.close()


def _cells(backend: EngineBackend, sql: str) -> list[int]:
    result = backend.execute_query(sql)
    assert not result.error
    return [value for batch in result.batch for value in batch.varint_cells]


def _in_thread(action: object) -> BaseException | None:
    """Runs the action in another thread and returns what it raised."""
    raised: list[BaseException] = []

    def run() -> None:
        try:
            assert callable(action)
            action()
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=run, name="stranger")
    thread.start()
    thread.join()
    return raised[0] if raised else None


def test_answers(backend: EngineBackend) -> None:
    """SQL that needs no trace is answered by both modules."""
    assert _cells(backend, _COUNT_TO_10) == list(range(1, 11))


def test_request_longer_than_the_buffer(backend: EngineBackend) -> None:
    """A statement of 3 MB goes through the engine's 1 MiB buffer in pieces."""
    assert _cells(backend, "SELECT 7" + " " * 3_000_000) == [7]


def test_closed_engine_says_so(backend: EngineBackend) -> None:
    """After close() a query is a clear error, and closing again is not."""
    backend.close()
    backend.close()
    with pytest.raises(EngineUnavailableError, match="is closed; open the trace again"):
        _cells(backend, "SELECT 1")


def test_other_thread_is_refused(backend: EngineBackend) -> None:
    """A query from another thread is refused by name instead of crashing, and the engine works on."""
    error = _in_thread(lambda: _cells(backend, "SELECT 1"))
    assert isinstance(error, EngineUnavailableError)
    assert "'MainThread'" in str(error)
    assert "'stranger'" in str(error)
    assert _cells(backend, "SELECT 1") == [1]


def test_other_thread_may_close(backend: EngineBackend) -> None:
    """An idle engine can be closed from any thread."""
    assert _in_thread(backend.close) is None


def test_close_in_the_middle_of_a_query_is_refused(backend: EngineBackend) -> None:
    """Freeing an engine that another thread is running would crash; it is refused, and the query goes on."""
    refused: list[BaseException | None] = []
    backend.stream_query(_COUNT_TO_10, lambda _result: refused.append(_in_thread(backend.close)))
    assert isinstance(refused[0], EngineUnavailableError)
    assert _cells(backend, "SELECT 1") == [1]


def test_query_within_a_query_is_refused(backend: EngineBackend) -> None:
    """The engine can't be entered again while it hands over rows."""

    def nest(_result: object) -> None:
        with pytest.raises(EngineUnavailableError, match="within another"):
            _cells(backend, "SELECT 1")

    backend.stream_query(_COUNT_TO_10, nest)
    assert _cells(backend, "SELECT 1") == [1]


@pytest.mark.parametrize("interruption", [ValueError("full"), KeyboardInterrupt()])
def test_error_of_the_receiver_is_passed_on(backend: EngineBackend, interruption: BaseException) -> None:
    """What the receiver of rows raises comes out as it is; the engine, stopped half-way, counts as dead."""

    def fail(_result: object) -> None:
        raise interruption

    with pytest.raises(type(interruption)) as caught:
        backend.stream_query(_COUNT_TO_10, fail)
    assert caught.value is interruption
    with pytest.raises(EngineDiedError, match=f"interrupted by {type(interruption).__name__}"):
        _cells(backend, "SELECT 1")


def test_a_signal_during_native_code_comes_out_as_what_its_handler_raises(backend: EngineBackend) -> None:
    """Ctrl-C while the module computes ends an endless query with KeyboardInterrupt, and crashes nothing."""
    running = threading.Event()

    def interrupt() -> None:
        running.wait()  # and then for the GIL, which the query's thread lets go only in native code
        signal.raise_signal(signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        backend.stream_query(_COUNT_TO_10.replace("WHERE x < 10", ""), lambda _result: running.set())
    thread.join()
    with pytest.raises(EngineDiedError, match="interrupted by KeyboardInterrupt"):
        _cells(backend, "SELECT 1")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_death_is_of_one_engine_only(protos: ProtoFactory, traces_dir: Path) -> None:
    """A trace that makes one engine abort leaves another usable, and the dead one says what it died of."""
    survivor, victim = EngineBackend(protos), EngineBackend(protos)
    victim.parse((traces_dir / "bad_gecko_aborts_engine.json").read_bytes())
    with pytest.raises(EngineDiedError, match="aborted"):
        victim.notify_eof()
    with pytest.raises(EngineDiedError, match=r"died earlier \(the engine aborted\)"):
        _cells(victim, "SELECT 1")
    victim.close()
    assert _cells(survivor, "SELECT 1") == [1]
    survivor.close()


def test_lack_of_memory_is_told_apart(protos: ProtoFactory, api32_trace: Path) -> None:
    """An engine that may not grow dies of lack of memory, says so, and names the engine that has more."""
    backend = EngineBackend(protos, 32, heap_limit=33 << 20)
    data = api32_trace.read_bytes() * 20
    with pytest.raises(EngineDiedError, match="more than 33 MiB, which engine 'wasm64' has") as caught:
        backend.parse(data)
    assert caught.value.out_of_memory
    backend.close()


def test_each_thread_may_have_an_engine(protos: ProtoFactory) -> None:
    """Engines in several threads work at the same time, some dying in the middle, and don't mix results."""
    barrier = threading.Barrier(4)

    def count(start: int) -> None:
        backend = EngineBackend(protos)
        barrier.wait()
        for n in range(start, start + 20):
            assert _cells(backend, f"SELECT {n}") == [n]

        def fail(_result: object) -> None:
            raise ValueError(start)

        if start % 2:
            with pytest.raises(ValueError, match=str(start)):
                backend.stream_query(_COUNT_TO_10, fail)
        backend.close()

    errors: list[BaseException] = []

    def run(start: int) -> None:
        try:
            count(start)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def test_memory_is_given_back(protos: ProtoFactory, api32_trace: Path) -> None:
    """Forty engines one after the other, closed or just forgotten, need no more memory than a few."""
    data = api32_trace.read_bytes()

    def use_one(*, close: bool) -> None:
        backend = EngineBackend(protos)
        backend.parse(data)
        if close:
            backend.close()

    for _ in range(4):
        use_one(close=True)
    before = _resident_mib()
    for number in range(40):
        use_one(close=number % 2 == 0)
    gc.collect()
    assert _resident_mib() - before < 40  # each of them needs about that much


def _resident_mib() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 >> 20
