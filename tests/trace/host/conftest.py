"""Each host function is tested with both widths of pointer."""

import pytest
from tests.trace.host.guest import guest_memory

from unjank.trace.host.memory import GuestMemory


@pytest.fixture(params=[32, 64], ids=["wasm32", "memory64"])
def memory(request: pytest.FixtureRequest) -> GuestMemory:
    """One page of guest memory."""
    return guest_memory(request.param)
