"""The engine's memory as host functions see it."""

import pytest
from tests.trace.host.guest import guest_memory

from unjank.trace.host.memory import GuestMemory


def test_what_is_written_is_read(memory: GuestMemory) -> None:
    """Bytes come back as they were written."""
    memory.write(100, b"\x00\xffabc")
    assert memory.read(100, 5) == b"\x00\xffabc"


def test_negative_address_is_a_high_one() -> None:
    """The binding passes i32 as signed: -65536 means 0xFFFF0000, which is outside a small memory."""
    with pytest.raises(IndexError, match="0xffff0000"):
        guest_memory(32).read(-65536, 1)


@pytest.mark.parametrize(("address", "size"), [(65536, 1), (65535, 2), (0, 65537)])
def test_outside_is_an_error(memory: GuestMemory, address: int, size: int) -> None:
    """Neither reading nor writing reaches beyond the memory, which has 65,536 bytes."""
    with pytest.raises(IndexError):
        memory.read(address, size)
    with pytest.raises(IndexError):
        memory.write(address, bytes(size))


def test_text_ends_at_nul_and_at_the_end_of_memory(memory: GuestMemory) -> None:
    """A C string ends at its NUL, at the limit, or where the memory ends."""
    memory.write(10, b"caf\xc3\xa9\0more")
    memory.write(65530, b"sixsix")
    assert memory.text(10) == "café"
    assert memory.text(65530) == "sixsix"
    assert memory.text(0) == ""


def test_grows_up_to_its_limit(memory: GuestMemory) -> None:
    """Growing beyond what the module allows is refused, not raised."""
    assert memory.grow_to(3 * 65536)
    assert memory.size == 3 * 65536
    assert not memory.grow_to(5 * 65536)
    assert memory.size == 3 * 65536
