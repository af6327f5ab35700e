"""Sets of CPUs: lists, and words."""

from pathlib import Path
from typing import Any

import pytest
from tests.cpu.machines import phone, ryzen, xeon

from unjank.cpu import AbsentError, CpuError, format_cpu_list, parse_cpu_list, resolve_cpus


@pytest.mark.parametrize(
    ("text", "cpus"),
    [("0", {0}), ("0-3,5", {0, 1, 2, 3, 5}), ("2-3\n", {2, 3}), ("0-7:2", {0, 2, 4, 6}), ("", set())],
)
def test_lists_are_read_as_the_kernel_and_taskset_write_them(text: str, cpus: set[int]) -> None:
    """Ranges, single numbers and steps."""
    assert parse_cpu_list(text) == cpus


@pytest.mark.parametrize("text", ["3-1", "a", "1,,2", "-1", "0-7:0", "0-99999999", "1;2"])
def test_what_is_no_list_is_refused(text: str) -> None:
    """A slip is an error that shows how a list is written."""
    with pytest.raises(CpuError, match="write it as 0-3,5"):
        parse_cpu_list(text)


def test_a_list_is_written_in_its_shortest_form() -> None:
    """Neighbours become ranges; writing and reading agree."""
    assert format_cpu_list({5, 0, 1, 2}) == "0-2,5"
    assert parse_cpu_list(format_cpu_list(range(0, 64, 3))) == set(range(0, 64, 3))


@pytest.mark.parametrize(
    ("words", "cpus"),
    [
        ("all", set(range(8))),
        ("big", {4, 5, 6}),
        ("Little", {0, 1, 2, 3}),
        ("prime", {7}),
        ("one per cluster", {0, 4, 7}),
        ("cluster 1", {4, 5, 6}),
        ("2-3", {2, 3}),
    ],
)
def test_words_on_a_phone(tmp_path: Path, words: str, cpus: set[int]) -> None:
    """Kinds and clusters by name."""
    assert resolve_cpus(words, phone(tmp_path).topology()) == cpus


@pytest.mark.parametrize(
    ("words", "near", "cpus"),
    [
        ("one per core", None, set(range(8))),
        ("one per node", None, {0, 4}),
        ("node 1", None, {4, 5, 6, 7, 12, 13, 14, 15}),
        ("same core", 12, {4, 12}),
        ("same L3", 9, {0, 1, 2, 3, 8, 9, 10, 11}),
        ("same package", 7, {4, 5, 6, 7, 12, 13, 14, 15}),
    ],
)
def test_words_on_a_server(tmp_path: Path, words: str, near: int | None, cpus: set[int]) -> None:
    """Levels by name, from the CPU where the thread last ran."""
    assert resolve_cpus(words, xeon(tmp_path).topology(), near) == cpus


def test_words_choose_among_the_allowed(tmp_path: Path) -> None:
    """`one per cluster` names a CPU that may be used, not each cluster's first."""
    topology = ryzen(tmp_path).topology(allowed={2, 3, 6})
    assert resolve_cpus("one per cluster", topology) == {2, 6}
    assert resolve_cpus("same l3", topology, near=2) == {2, 3}


def test_cpu_0_is_a_cpu(tmp_path: Path) -> None:
    """CPU 0 alone is a set like any other, as a list and as numbers."""
    topology = ryzen(tmp_path).topology()
    assert resolve_cpus("0", topology) == resolve_cpus({0}, topology) == {0}


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ("", "is not a set of CPUs"),
        ("fast ones", "is not a set of CPUs"),
        ("one per rack", "share no 'rack'"),
        ("big", "all of one kind"),
        (None, "None is not a set of CPUs; write one of"),
        ("cluster 9", "there is no cluster 9: this machine has cluster 0-1"),
        (set(), "is empty"),
        ({-1}, "whole numbers"),
        ({True}, "whole numbers"),
    ],
)
def test_what_cannot_be_meant_is_refused(tmp_path: Path, wanted: Any, message: str) -> None:
    """The message says what there is instead."""
    with pytest.raises(CpuError, match=message):
        resolve_cpus(wanted, ryzen(tmp_path).topology())


def test_kinds_that_exist_are_named(tmp_path: Path) -> None:
    """Asking a machine of two kinds for a third names those two; words outside the mask are told apart."""
    topology = phone(tmp_path).topology(allowed={0, 1})
    with pytest.raises(AbsentError, match="of 'prime', CPU 7, this process may use none: it may use 0-1"):
        resolve_cpus("prime", topology)
