"""Runs a function as a user without any rights, in a forked child."""

import json
import os
from collections.abc import Callable

import pytest

NOBODY = 65534


def as_nobody(action: Callable[[], str]) -> str:
    """What `action` answers as user nobody, or the message of what it raises."""
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    receiving, sending = os.pipe()
    child = os.fork()
    if child == 0:
        answer = ""
        try:
            os.setgroups([])
            os.setresgid(NOBODY, NOBODY, NOBODY)
            os.setresuid(NOBODY, NOBODY, NOBODY)
            answer = action()
        except BaseException as error:
            answer = f"{type(error).__name__}: {error}"
        finally:
            os.write(sending, json.dumps(answer).encode())
            os._exit(0)
    os.close(sending)
    with os.fdopen(receiving) as stream:
        answer = json.loads(stream.read())
    os.waitpid(child, 0)
    return str(answer)
