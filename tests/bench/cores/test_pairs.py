"""Which pairs are measured, on made-up machines."""

import pytest

from unjank.bench.cores import Pair, relation, select_pairs
from unjank.cpu import Cache, Cpu, Topology


def server(nodes: int, per_node: int, clusters_per_node: int = 2) -> Topology:
    """One package for each node; clusters are CPUs that share an L3; no hardware threads."""
    per_cluster = per_node // clusters_per_node
    cpus = []
    for number in range(nodes * per_node):
        first = number // per_cluster * per_cluster
        cache = Cache(3, "Unified", None, frozenset(range(first, first + per_cluster)))
        node = number // per_node
        siblings = frozenset({number})
        cpus.append(Cpu(number, True, package=node, node=node, siblings=siblings, caches=(cache,)))
    return Topology(tuple(cpus), frozenset(range(len(cpus))), described=True)


def test_both_orders_of_each_pair_are_measured() -> None:
    """The page is home at the first of the two, so the orders differ."""
    selection = select_pairs(server(1, 2, 1), [0, 1], most=100)
    assert selection.pairs == (Pair(0, 1, "cluster", "own", 0), Pair(1, 0, "cluster", "own", 1))
    assert selection.absent == {
        "core_to_core remote home": "the CPUs measured are of one memory node: no page is remote"
    }
    assert not selection.sampled


def test_a_remote_home_is_on_a_node_of_neither() -> None:
    """Pairs within a node have one; with two nodes, pairs across have none."""
    selection = select_pairs(server(2, 2, 1), [0, 1, 2, 3], most=100)
    remote = {(pair.first, pair.second): pair.home_cpu for pair in selection.pairs if pair.home == "remote"}
    assert remote == {(0, 1): 2, (1, 0): 2, (2, 3): 0, (3, 2): 0}
    assert selection.absent == {}


def test_relations_go_from_near_to_far() -> None:
    """Same cluster, same node, other package."""
    topology = server(2, 4)
    assert [relation(topology, 0, other) for other in (1, 2, 4)] == ["cluster", "node", "machine"]


def test_huge_machines_are_sampled_by_kind() -> None:
    """Rare kinds are kept whole as far as they fit, the others share what is left; always the same pairs."""
    topology = server(2, 64, 16)
    cpus = list(range(128))
    selection = select_pairs(topology, cpus, most=1_000)
    assert selection.sampled
    assert selection.available > 128 * 127
    assert 900 <= len(selection.pairs) <= 1_000
    kinds: dict[tuple[str, str], int] = {}
    for pair in selection.pairs:
        kinds[pair.relation, pair.home] = kinds.get((pair.relation, pair.home), 0) + 1
    assert kinds.keys() == {(r, h) for r in ("cluster", "node") for h in ("own", "remote")} | {
        ("machine", "own")
    }
    assert min(kinds.values()) >= 190
    assert select_pairs(topology, cpus, most=1_000) == selection


@pytest.mark.parametrize("most", [1, 2, 3])
def test_a_sample_is_never_larger_than_asked(most: int) -> None:
    """However few."""
    assert len(select_pairs(server(2, 4), list(range(8)), most).pairs) <= most
