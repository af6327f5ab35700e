"""Topology: what is read of machines of many kinds."""

from collections.abc import Iterable
from pathlib import Path

import pytest
from tests.cpu.machines import CPUS, Machine, phone, ryzen, single, xeon

from unjank.cpu import AbsentError, KernelTree, read_topology


def groups(*members: Iterable[int]) -> tuple[frozenset[int], ...]:
    """Groups from ranges and sets."""
    return tuple(map(frozenset, members))


def test_a_phone_has_little_big_and_prime(tmp_path: Path) -> None:
    """Capacities make the kinds; kinds make the clusters where the kernel names none."""
    topology = phone(tmp_path).topology()
    assert topology.classes == {
        "little": frozenset(range(4)),
        "big": frozenset({4, 5, 6}),
        "prime": frozenset({7}),
    }
    assert topology.groups("cluster") == groups(range(4), {4, 5, 6}, {7})


def test_kinds_are_told_by_frequency_where_capacity_is_missing(tmp_path: Path) -> None:
    """A phone whose kernel has no cpu_capacity shows the same kinds by its highest frequencies."""
    machine = phone(tmp_path)
    for cpu in range(8):
        (tmp_path / f"{CPUS}/cpu{cpu}/cpu_capacity").unlink()
    assert machine.topology().classes["prime"] == {7}
    assert machine.topology().classes["little"] == set(range(4))


def test_favoured_cores_are_no_kind_of_their_own(tmp_path: Path) -> None:
    """Cores that clock a few percent higher are of the same kind."""
    machine = ryzen(tmp_path)
    for cpu in range(8):
        (tmp_path / f"{CPUS}/cpu{cpu}/cpufreq").unlink()
        machine.write(f"{CPUS}/cpu{cpu}/cpufreq/cpuinfo_max_freq", 4_400_000 + cpu * 50_000)
    assert machine.topology().classes == {"all": frozenset(range(8))}


def test_hybrid_x86_is_told_by_its_counter_units(tmp_path: Path) -> None:
    """cpu_core and cpu_atom name the big and the little CPUs."""
    machine = Machine(tmp_path, range(4))
    machine.write("sys/devices/cpu_core/cpus", "0-1")
    machine.write("sys/devices/cpu_atom/cpus", "2-3")
    assert machine.topology().classes == {"little": frozenset({2, 3}), "big": frozenset({0, 1})}


def test_a_server_has_sockets_siblings_and_nodes(tmp_path: Path) -> None:
    """Siblings share a core, sockets a package, an L3 and a node; clusters of one core are not used."""
    topology = xeon(tmp_path).topology()
    first, second = {0, 1, 2, 3, 8, 9, 10, 11}, {4, 5, 6, 7, 12, 13, 14, 15}
    for level in ("package", "l3", "node", "cluster"):
        assert topology.groups(level) == groups(first, second)
    assert len(topology.groups("core")) == 8
    assert topology.sharing("core", 13) == {5, 13}
    assert [cpu.number for cpu in topology.cpus if cpu.isolated and cpu.tickless] == [7, 15]
    assert topology.by_number[12].node == 1


def test_the_kernels_clusters_are_used_where_they_span_cores(tmp_path: Path) -> None:
    """Four cores with a common L2 are a cluster within their package."""
    machine = ryzen(tmp_path)
    for cpu in range(8):
        machine.topology_of(cpu, cluster_id=cpu // 2, cluster_cpus_list=f"{cpu // 2 * 2}-{cpu // 2 * 2 + 1}")
    assert machine.topology().groups("cluster") == groups({0, 1}, {2, 3}, {4, 5}, {6, 7})


def test_two_l3_caches_are_two_clusters(tmp_path: Path) -> None:
    """On one package the L3 caches cut it."""
    topology = ryzen(tmp_path).topology()
    assert topology.groups("l3") == topology.groups("cluster") == groups(range(4), range(4, 8))
    assert topology.groups("package") == groups(range(8))
    assert topology.cpus[5].caches[-1].size_bytes == 16 << 20


def test_one_cpu_is_a_group_of_its_own(tmp_path: Path) -> None:
    """A machine with one CPU has one group at every level."""
    topology = single(tmp_path).topology()
    for level in ("core", "cluster", "l2", "l3", "die", "package", "node"):
        assert topology.groups(level) == groups({0})
    assert topology.classes == {"all": frozenset({0})}


def test_offline_cpus_are_listed_but_in_no_group(tmp_path: Path) -> None:
    """Offline CPUs are there, without a topology; nothing is placed on them."""
    machine = Machine(tmp_path, [0, 2], offline=[1, 3])
    topology = machine.topology()
    assert [(cpu.number, cpu.online) for cpu in topology.cpus] == [
        (0, True),
        (1, False),
        (2, True),
        (3, False),
    ]
    assert topology.groups("core") == groups({0}, {2})
    with pytest.raises(AbsentError, match="CPU 3 is not online"):
        topology.sharing("core", 3)


def test_numbers_need_not_begin_at_zero(tmp_path: Path) -> None:
    """Where the process may use CPU 4 and 5 only, those are the allowed ones."""
    assert ryzen(tmp_path).topology(allowed={4, 5}).allowed == {4, 5}


def test_without_sys_the_numbers_are_still_known(tmp_path: Path) -> None:
    """Without /sys, cpuinfo and the affinity mask name the CPUs; how they relate is not known."""
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/cpuinfo").write_text("processor\t: 0\nmodel name\t: x\n\nprocessor\t: 1\n")
    topology = read_topology(KernelTree(tmp_path), lambda: {1, 3})
    assert [cpu.number for cpu in topology.cpus] == [0, 1, 3]
    assert not topology.described
    assert topology.groups("cluster") == groups({0, 1, 3})


def test_the_running_machine_agrees_with_the_kernels_mask() -> None:
    """Every CPU this process may use is present and online."""
    topology = read_topology()
    assert topology.allowed
    assert topology.allowed <= topology.online
