"""How many workers, and how much memory for each."""

from pathlib import Path

import pytest

from unjank.fleet._machine import Machine, this_machine

_GIB = 1 << 30


def _root(tmp_path: Path, **files: str) -> Path:
    for name, text in files.items():
        path = tmp_path / name.replace("__", "/").replace("_DOT_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_free_memory_counts(tmp_path: Path) -> None:
    """What the kernel calls available is what can be shared."""
    root = _root(tmp_path, proc__meminfo="MemTotal: 999 kB\nMemAvailable: 2048 kB\n")
    assert this_machine(root).memory_bytes == 2048 << 10


def test_container_limits_count(tmp_path: Path) -> None:
    """A container's quota of CPUs and its memory not yet used are what there is."""
    root = _root(
        tmp_path,
        sys__fs__cgroup__cpu_DOT_max="100000 100000",
        sys__fs__cgroup__memory_DOT_max="3000",
        sys__fs__cgroup__memory_DOT_current="1000",
    )
    assert this_machine(root) == Machine(1, 2000)


@pytest.mark.parametrize(
    ("cpus", "gib", "workers"), [(8, 64.0, 8), (8, 2.0, 3), (2, 0.1, 1)], ids=["cpus", "memory", "tiny"]
)
def test_workers_by_cpus_and_memory(cpus: int, gib: float, workers: int) -> None:
    """A worker for each CPU, unless that leaves one less than 512 MiB; always one at least."""
    assert Machine(cpus, int(gib * _GIB)).default_workers() == workers


def test_share_of_memory() -> None:
    """The workers share four fifths; nobody gets more than the engine can address."""
    assert Machine(2, 10 * _GIB).share_of(2) == 4 * _GIB - (160 << 20)
    assert Machine(2, 999 * _GIB).share_of(2) == 16 * _GIB
