"""Plans: which threads share a CPU or a cluster, and which are left alone."""

from pathlib import Path

import pytest
from tests.cpu.machines import Machine, phone, ryzen, single
from tests.cpu.place.graphs import SECOND, graph

from unjank.cpu import CpuError
from unjank.cpu.place import Limits, Placement, Plan, make_plan

BOTH_WAYS = {(1, 2): 5_000.0, (2, 1): 5_000.0}


def tids(placement: Placement) -> set[int]:
    """Who is placed."""
    return {member.tid for member in placement.members}


def homes(plan: Plan) -> dict[int, frozenset[int]]:
    """Where each placed thread goes."""
    return {tid: placement.cpus for placement in plan.placements for tid in tids(placement)}


def test_threads_that_take_turns_share_a_cpu(tmp_path: Path) -> None:
    """However busy each is: they never run at once."""
    topology = ryzen(tmp_path).topology()
    plan = make_plan(graph(topology, {1: 0.6, 2: 0.6}, BOTH_WAYS))
    (placement,) = plan.placements
    assert (tids(placement), placement.shares, len(placement.cpus)) == ({1, 2}, "cpu", 1)
    assert "10,000 times a second, and they take turns" in placement.reason
    assert plan.spared_per_s == 10_000


def test_threads_that_run_at_once_do_not(tmp_path: Path) -> None:
    """Two that are busy at the same time share a cluster, not a CPU."""
    topology = ryzen(tmp_path).topology()
    at_once = {1: [(0, SECOND)], 2: [(0, SECOND)]}
    plan = make_plan(graph(topology, {1: 0.95, 2: 0.95}, BOTH_WAYS, spans=at_once))
    (placement,) = plan.placements
    assert (placement.shares, placement.cpus) == ("cluster", frozenset({0, 1, 2, 3}))


def test_threads_that_go_their_own_way_do_not(tmp_path: Path) -> None:
    """60% each, without regard to each other: too much for one CPU, though seldom at once."""
    topology = ryzen(tmp_path).topology()
    tenth = SECOND // 10
    ones = [(n * tenth, n * tenth + 6 * tenth // 10) for n in range(10)]
    twos = [(n * 7 * tenth // 10, n * 7 * tenth // 10 + 42 * tenth // 100) for n in range(14)]
    made = graph(topology, {1: 0.6, 2: 0.6}, BOTH_WAYS, spans={1: ones, 2: twos})
    assert 0.95 < made.concurrency({1, 2}).avoidance < 1.03
    assert made.concurrency({1, 2}).at_once < 1.5
    assert make_plan(made).placements[0].shares == "cluster"


def test_a_long_wake_up_is_still_a_turn(tmp_path: Path) -> None:
    """Waker and woken overlap for a third of their time, but one of them always runs: they take turns."""
    topology = ryzen(tmp_path).topology()
    step = SECOND // 100
    ones = [(n * step, n * step + 3 * step // 4) for n in range(100)]
    twos = [(n * step + step // 2, n * step + 5 * step // 4) for n in range(100)]
    made = graph(topology, {1: 0.75, 2: 0.75}, BOTH_WAYS, spans={1: ones, 2: twos})
    assert made.concurrency({1, 2}).at_once > 1.45
    assert make_plan(made).placements[0].shares == "cpu"


def test_on_one_cluster_they_are_left_alone_with_the_reason(tmp_path: Path) -> None:
    """Where all CPUs share a cache, binding to all of them would say nothing."""
    topology = ryzen(tmp_path).topology(allowed={0, 1})
    at_once = {1: [(0, SECOND)], 2: [(0, SECOND)]}
    plan = make_plan(graph(topology, {1: 0.95, 2: 0.95}, BOTH_WAYS, spans=at_once))
    assert plan.placements == ()
    assert plan.left == (
        "t1 (1), t2 (2): 2.00 of them run at once on average, so one CPU would slow them, and all CPUs here "
        "share a cache",
    )


def test_two_pairs_get_two_cpus(tmp_path: Path) -> None:
    """Pairs that don't talk to each other don't share; each is near where it ran."""
    topology = ryzen(tmp_path).topology()
    wakeups = {(1, 2): 5_000.0, (3, 4): 4_000.0}
    made = graph(topology, dict.fromkeys((1, 2, 3, 4), 0.4), wakeups, cpus={1: 0, 2: 0, 3: 5, 4: 5})
    places = homes(make_plan(made))
    assert (places[1], places[2]) == (frozenset({0}), frozenset({0}))
    assert (places[3], places[4]) == (frozenset({5}), frozenset({5}))


def test_two_pairs_get_two_cores(tmp_path: Path) -> None:
    """Hardware threads of one core share it, so the second pair goes to another core, not to a sibling."""
    machine = Machine(tmp_path, range(4))
    for cpu in range(4):
        pair = f"{cpu // 2 * 2}-{cpu // 2 * 2 + 1}"
        machine.topology_of(cpu, physical_package_id=0, core_id=cpu // 2, core_cpus_list=pair)
    wakeups = {(1, 2): 5_000.0, (3, 4): 4_000.0}
    places = homes(make_plan(graph(machine.topology(), dict.fromkeys((1, 2, 3, 4), 0.4), wakeups)))
    assert (places[1], places[3]) == (frozenset({0}), frozenset({2}))


def test_a_pipeline_stays_in_a_cluster(tmp_path: Path) -> None:
    """Stages that fit no single CPU are kept on those that share a cache, the tightest two on one CPU."""
    topology = ryzen(tmp_path).topology()
    loads = {1: 0.4, 2: 0.4, 3: 0.8}
    at_once = {1: [(0, 400_000_000)], 2: [(0, 400_000_000)], 3: [(0, 800_000_000)]}
    wakeups = {(1, 2): 3_000.0, (2, 3): 2_000.0}
    plan = make_plan(graph(topology, loads, wakeups, spans=at_once, cpus={1: 4, 2: 5, 3: 6}))
    core, cluster = plan.placements
    assert (tids(core), len(core.cpus)) == ({1, 2}, 1)
    assert (tids(cluster), cluster.cpus) == ({3}, frozenset({4, 5, 6, 7}))
    assert core.cpus <= cluster.cpus


def test_a_phone_gives_its_fastest_with_room(tmp_path: Path) -> None:
    """The heaviest group goes to the prime CPU, the next to the big ones."""
    topology = phone(tmp_path).topology()
    wakeups = {(1, 2): 9_000.0, (3, 4): 5_000.0}
    places = homes(make_plan(graph(topology, dict.fromkeys((1, 2, 3, 4), 0.45), wakeups)))
    assert places[1] == places[2] == {7}
    assert places[3] == places[4]
    assert places[3] <= {4, 5, 6}


def test_rare_wake_ups_bind_nobody(tmp_path: Path) -> None:
    """Below the limits threads are left to the scheduler, and nothing is said of them."""
    plan = make_plan(graph(ryzen(tmp_path).topology(), {1: 0.1, 2: 0.1}, {(1, 2): 50.0}))
    assert (plan.placements, plan.left) == ((), ())


def test_the_limit_can_be_set(tmp_path: Path) -> None:
    """What counts as tight is the user's choice."""
    limits = Limits(tight_per_s=200.0)
    plan = make_plan(graph(ryzen(tmp_path).topology(), {1: 0.1, 2: 0.1}, {(1, 2): 250.0}), limits=limits)
    assert plan.placements[0].shares == "cpu"


def test_what_is_together_already_is_left(tmp_path: Path) -> None:
    """Frequent wake-ups on one CPU need no binding; the reason is told."""
    plan = make_plan(graph(ryzen(tmp_path).topology(), {1: 0.4, 2: 0.4}, BOTH_WAYS, crossed=0.001))
    assert plan.placements == ()
    assert "they are kept together already" in plan.left[0]


def test_only_allowed_cpus_are_given(tmp_path: Path) -> None:
    """A process that may use CPU 5 and 6 gets one of these."""
    topology = ryzen(tmp_path).topology(allowed={5, 6})
    assert homes(make_plan(graph(topology, {1: 0.4, 2: 0.4}, BOTH_WAYS)))[1] <= {5, 6}


def test_one_cpu_leaves_no_choice(tmp_path: Path) -> None:
    """On a machine with one CPU, and with one allowed, that is an error with the way out."""
    for topology in (single(tmp_path / "one").topology(), ryzen(tmp_path / "many").topology(allowed={3})):
        with pytest.raises(CpuError, match="one CPU to use, no choice where threads run"):
            make_plan(graph(topology, {1: 0.4, 2: 0.4}, BOTH_WAYS))


def test_a_thousand_threads_are_planned(tmp_path: Path) -> None:
    """A ring of 1,000 threads that run at once is cut into groups of at most a CPU's worth."""
    loads = dict.fromkeys(range(1_000), 0.01)
    wakeups = {(n, (n + 1) % 1_000): 1_500.0 for n in range(1_000)}
    all_at_once = {n: [(0, SECOND)] for n in range(1_000)}
    plan = make_plan(graph(ryzen(tmp_path).topology(), loads, wakeups, spans=all_at_once))
    cores = [placement for placement in plan.placements if placement.shares == "cpu"]
    assert max(len(placement.members) for placement in cores) <= 90
    assert {cpu for placement in cores for cpu in placement.cpus} <= set(range(8))
