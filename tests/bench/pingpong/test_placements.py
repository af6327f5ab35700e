"""Which CPUs are paired, on made-up machines."""

import pytest

from unjank import UnjankError
from unjank.bench.pingpong import Choice, Placement, choose_placements
from unjank.cpu import Cache, Cpu, Topology


def _server(allowed: set[int], offline: frozenset[int] = frozenset()) -> Topology:
    """Two packages, an L3 and two cores in each; the hardware threads of core N are N and N + 4."""
    cpus = []
    for number in range(8):
        core = number % 4
        third_level = Cache(3, "Unified", None, frozenset({0, 1, 4, 5} if core < 2 else {2, 3, 6, 7}))
        cpus.append(
            Cpu(
                number,
                number not in offline,
                package=core // 2,
                core=core,
                siblings=frozenset({core, core + 4}),
                caches=(third_level,),
            )
        )
    return Topology(tuple(cpus), frozenset(allowed), described=True)


def _pairs(choice: Choice) -> dict[str, tuple[int, int]]:
    return {placement.name: (placement.first, placement.second) for placement in choice.placements}


def test_one_pair_of_each_kind() -> None:
    """Same CPU, same core, same cluster, across clusters, and left to the scheduler."""
    choice = choose_placements(_server(set(range(8))))
    assert _pairs(choice) == {
        "same-cpu": (0, 0),
        "smt": (0, 4),
        "same-cluster": (0, 1),
        "across": (0, 2),
        "unpinned": (-1, -1),
    }
    assert choice.farthest == Placement("across", 0, 2)
    assert choice.absent == {}


def test_only_usable_cpus_are_paired() -> None:
    """Ids need not begin at 0; what is offline or not allowed is not used, and what is lacking is told."""
    choice = choose_placements(_server({2, 3, 5, 7}, offline=frozenset({2})))
    assert _pairs(choice) == {"same-cpu": (3, 3), "smt": (3, 7), "across": (3, 5), "unpinned": (-1, -1)}
    assert choice.absent == {"same-cluster": "no two cores that this process may use share a cluster"}


def test_one_cpu_measures_the_context_switch_alone() -> None:
    """Nothing can be apart there, and unpinned would be the same."""
    choice = choose_placements(_server({3}))
    assert _pairs(choice) == {"same-cpu": (3, 3)}
    assert choice.farthest is None
    assert choice.absent.keys() == {"same-cluster", "across", "unpinned"}
    assert all("one CPU only, 3" in reason for reason in choice.absent.values())


def test_a_pair_replaces_the_choice() -> None:
    """The first of the two is also where both run together; twice the same gives no pair apart."""
    choice = choose_placements(_server(set(range(8))), (6, 1))
    assert _pairs(choice) == {"same-cpu": (6, 6), "given": (6, 1), "unpinned": (-1, -1)}
    assert "given" not in _pairs(choose_placements(_server(set(range(8))), (6, 6)))


@pytest.mark.parametrize(
    ("pair", "reason"),
    [
        ((0, 9), "there is no CPU 9; this machine has 0-7"),
        ((0, 7), "CPU 7 is offline; choose of 0-4, or write 1 to"),
        ((5, 0), "this process may not use CPU 5: .* leaves it 0-4,7; choose of these"),
    ],
)
def test_a_pair_that_cannot_be_used_is_refused(pair: tuple[int, int], reason: str) -> None:
    """Each rule that can forbid a CPU is named, with the way out."""
    topology = _server({0, 1, 2, 3, 4, 7}, offline=frozenset({7}))
    with pytest.raises(UnjankError, match=reason):
        choose_placements(topology, pair)
