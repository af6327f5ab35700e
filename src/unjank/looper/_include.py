"""Where the C header is."""

from pathlib import Path


def get_include() -> str:
    """The folder to compile C code with that posts to loopers: it has `unjank/looper.h`."""
    return str(Path(__file__).parent / "include")
