"""The system calls themselves."""

import ctypes
import re
from pathlib import Path

import pytest
from tests.record.threads import run_in_thread

from unjank.cpu import AbsentError
from unjank.cpu.scheduler import (
    RESET_ON_FORK,
    SCHED_BATCH,
    Attributes,
    KernelScheduler,
    _SchedAttr,
    syscall_numbers,
)


@pytest.mark.parametrize(
    ("machine", "is_64bit", "numbers"),
    [
        ("x86_64", True, (314, 315)),
        ("x86_64", False, (351, 352)),
        ("i686", False, (351, 352)),
        ("aarch64", True, (274, 275)),
        ("aarch64", False, (380, 381)),
        ("armv7l", False, (380, 381)),
        ("riscv64", True, (274, 275)),
        ("ppc64le", True, (355, 356)),
        ("s390x", True, (345, 346)),
    ],
)
def test_numbers_by_architecture(machine: str, is_64bit: bool, numbers: tuple[int, int]) -> None:
    """The kernel's tables; a 32-bit program has its own numbers on a 64-bit kernel."""
    assert syscall_numbers(machine, is_64bit=is_64bit) == numbers


def test_an_unknown_architecture_is_an_error() -> None:
    """No number is guessed."""
    with pytest.raises(AbsentError, match="no known number on vax"):
        syscall_numbers("vax", is_64bit=True)


def test_the_numbers_of_this_machines_headers() -> None:
    """Where kernel headers are installed, they say the same."""
    headers = [*Path("/usr/include").glob("**/asm/unistd_64.h")]
    if not headers:
        pytest.skip("no kernel headers of a 64-bit x86 (Debian: linux-libc-dev)")
    text = headers[0].read_text()
    found = [re.search(rf"__NR_sched_{name}attr (\d+)", text) for name in ("set", "get")]
    assert tuple(int(match[1]) for match in found if match) == syscall_numbers("x86_64", is_64bit=True)


def test_the_structure_has_the_kernels_size() -> None:
    """SCHED_ATTR_SIZE_VER1 is 56, whatever the padding rules."""
    assert ctypes.sizeof(_SchedAttr) == 56


def test_errors_are_os_errors() -> None:
    """A thread that is not there is ProcessLookupError, as with the standard library's calls."""
    with pytest.raises(ProcessLookupError):
        KernelScheduler().attributes(2**30)


def test_plain_settings_need_no_unusual_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nice values and policies are set by the calls that sandboxes allow: the rarer one is not made."""

    def forbidden(*_: object) -> None:
        raise AssertionError("sched_setattr was called")

    kernel = KernelScheduler()
    monkeypatch.setattr(kernel, "_call", forbidden)

    def body() -> tuple[Attributes, Attributes]:
        kernel.set_attributes(0, Attributes(nice=3))
        first = kernel.attributes(0)
        kernel.set_attributes(0, Attributes(policy=SCHED_BATCH, nice=4, flags=RESET_ON_FORK))
        return first, kernel.attributes(0)

    first, second = run_in_thread(body)
    assert first == Attributes(nice=3)
    assert second == Attributes(policy=SCHED_BATCH, nice=4, flags=RESET_ON_FORK)
