"""What every `--json FILE|-` has in common on the command line."""

from pathlib import Path


def check_target(json: str | None) -> None:
    """Finds a folder that is missing before anything is done.

    Raises:
        UnjankError: The file cannot be written there.
    """
    from unjank import UnjankError

    if json not in (None, "-") and not Path(json).absolute().parent.is_dir():
        folder = Path(json).absolute().parent
        raise UnjankError(f"cannot write {json}: there is no folder {folder}; make it, or change --json")
