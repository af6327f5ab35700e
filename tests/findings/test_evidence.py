"""Who waits for whom, followed in both directions."""

from tests.findings.builder import MS, Thread, TraceBuilder
from tests.findings.conftest import Load

from unjank.findings import Evidence


def waits(*edges: tuple[int, int, int, int]) -> TraceBuilder:
    """A trace of waits (waiter, owner, start, end), threads by number, times in ms."""
    trace = TraceBuilder()
    threads: dict[int, Thread] = {}
    for number in sorted({n for waiter, owner, _, _ in edges for n in (waiter, owner)}):
        threads[number] = trace.thread(100, 100 + number, f"t{number}")
    for waiter, owner, start, end in edges:
        trace.contention(
            threads[waiter], threads[owner], start * MS, end * MS, lock=f"L{owner}", lock_id=owner
        )
    return trace


def test_chain_of_any_length(load: Load) -> None:
    """Each owner's own wait is followed, nearest first."""
    evidence = Evidence(load(waits((1, 2, 4, 50), (2, 3, 3, 49), (3, 4, 2, 48), (4, 5, 1, 47))))
    wait = evidence.contentions[-1]
    assert [link.waiter.name for link in evidence.chain(wait)] == ["t2", "t3", "t4"]


def test_chain_takes_the_wait_that_covers_most(load: Load) -> None:
    """An owner that waited several times is followed where it lost most of the time."""
    evidence = Evidence(load(waits((1, 2, 10, 50), (2, 3, 8, 15), (2, 4, 20, 45), (2, 5, 46, 60))))
    wait = next(wait for wait in evidence.contentions if wait.waiter.name == "t1")
    assert [link.owner_name for link in evidence.chain(wait)] == ["t4"]


def test_chain_ends_in_a_circle(load: Load) -> None:
    """A circle of waits is followed once around."""
    evidence = Evidence(load(waits((1, 2, 1, 50), (2, 3, 2, 50), (3, 1, 3, 50))))
    assert [link.waiter.name for link in evidence.chain(evidence.contentions[0])] == ["t2", "t3"]


def test_waiting_behind(load: Load) -> None:
    """All waits that a wait holds up are found, through others too, and no wait of another time."""
    evidence = Evidence(
        load(
            waits(
                (2, 1, 10, 50), (3, 2, 11, 51), (4, 3, 12, 52), (5, 2, 20, 30), (6, 2, 50, 60), (7, 2, 1, 10)
            )
        )
    )
    wait = next(wait for wait in evidence.contentions if wait.waiter.name == "t2")
    assert {other.waiter.name for other in evidence.waiting_behind(wait)} == {"t3", "t4", "t5"}


def test_wait_at(load: Load) -> None:
    """A wait includes its start and not its end."""
    evidence = Evidence(load(waits((1, 2, 10, 20))))
    thread = evidence.contentions[0].waiter
    found = [evidence.wait_at(thread, ts) is not None for ts in (10 * MS - 1, 10 * MS, 20 * MS - 1, 20 * MS)]
    assert found == [False, True, True, False]
