"""Error numbers as the engine's C library knows them (WASI's numbering, used by Emscripten too)."""

from enum import IntEnum


class Errno(IntEnum):
    """The numbers the host answers with. WASI calls return them, `__syscall_*` return them negated."""

    SUCCESS = 0
    EACCES = 2
    EBADF = 8
    EINVAL = 28
    ENODEV = 43
    ENOTTY = 59
    ERANGE = 68
    ESPIPE = 70
