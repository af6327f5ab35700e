"""Parts in processes of their own: what one leaves behind does not change the next."""

import pickle
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module

from unjank import UnjankError
from unjank.bench._report import Report
from unjank.bench._run import Progress, Scale

Part = Callable[[Report, Scale, Progress], None]


def run_parts(
    parts: Mapping[str, Part], scale: Scale, progress: Progress, only: Iterable[str] = ()
) -> Report:
    """Measures the parts named, or all, one process after the other.

    Args:
        parts: Functions of modules, by name: the child imports them.
        scale: How much.
        progress: Told what comes next, one line each.
        only: Of `parts`.

    Raises:
        KeyError: There is no such part.
        UnjankError: A part's process died; what it said stands on stderr.
    """
    report = Report()
    for name in list(only) or parts:
        report.absorb(_run_in_child(name, parts[name], scale, progress))
    return report


def interpreter() -> list[str]:
    """The command that starts this interpreter again, with or without its GIL as here."""
    if not sysconfig.get_config_var("Py_GIL_DISABLED"):
        return [sys.executable]
    gil = bool(getattr(sys, "_is_gil_enabled", lambda: True)())
    return [sys.executable, "-X", f"gil={int(gil)}"]


def _run_in_child(name: str, part: Part, scale: Scale, progress: Progress) -> Report:
    program = f"from {__name__} import work; work()"
    order = pickle.dumps((part.__module__, part.__qualname__, scale))
    pipe = subprocess.PIPE
    with subprocess.Popen([*interpreter(), "-c", program, order.hex()], stdout=pipe) as child:
        assert child.stdout is not None
        try:
            while not isinstance(said := pickle.load(child.stdout), Report):  # noqa: S301  our own child
                progress(said)
        except EOFError:
            raise UnjankError(
                f"the part {name} died with exit code {child.wait()}; what it said stands above, "
                "and --only runs the others"
            ) from None
        return said


def work() -> None:
    """A child's whole job: measures the part that its argument names; progress and report go to stdout."""
    module, function, scale = pickle.loads(bytes.fromhex(sys.argv[1]))  # noqa: S301  our own parent
    report = Report()
    getattr(import_module(module), function)(report, scale, _tell)
    _tell(report)


def _tell(what: object) -> None:
    pickle.dump(what, sys.stdout.buffer)
    sys.stdout.buffer.flush()
