"""Runs a program under the recorder: what `unjank run` starts in a process of its own.

It makes itself scarce. The program finds the `__main__`, `sys.argv`, `sys.path` and signal mask it would have
without us, tracebacks start with its own frames, and modules that hold locks are imported after the locks
have been replaced.
"""

import atexit
import json
import os
import signal
import sys
from importlib.machinery import SourceFileLoader
from types import CodeType, ModuleType, TracebackType
from typing import Any

SETTINGS = "UNJANK_RECORD"
"""Environment variable with the settings, as JSON; taken out before the program sees it."""

EXIT_NOT_STARTED = 3


class CannotStartError(Exception):
    """The program cannot be started; the message says why."""


def main() -> None:
    """Reads the settings, finds the program, starts the recorder, runs."""
    settings: dict[str, Any] = json.loads(os.environ.pop(SETTINGS))
    # What programs that start themselves anew look at.
    sys.orig_argv = settings["command"]
    try:
        code, module = _find_module(settings) if settings["module"] else _find_script(settings)
    except CannotStartError as error:
        print(f"unjank: {error}", file=sys.stderr)  # noqa: T201  before anything of the program's runs
        sys.exit(EXIT_NOT_STARTED)
    _start_recorder(settings)
    sys.modules["__main__"] = module
    _tell_started(settings["started_fd"])
    signal.pthread_sigmask(signal.SIG_SETMASK, settings["signal_mask"])
    _execute(code, module)


def _tell_started(pipe: int) -> None:
    """From here on what happens is the program's, an exit code that looks like ours included."""
    os.write(pipe, b"1")
    os.close(pipe)


def _start_recorder(settings: dict[str, Any]) -> None:
    from unjank import _record
    from unjank.record._facts import session_facts
    from unjank.record._patch import Patch

    shared_fd: int = settings["shared_fd"]
    file = _record.TraceFile(settings["path"], shared_fd)
    os.close(shared_fd)
    facts = session_facts(settings["version"], sys.argv, settings["sched"], settings["sched_reason"])
    # The first to be registered is the last to run: the program's own exit handlers are still recorded.
    atexit.register(_stop_recorder)
    _record.start(file, settings["process_name"], sys.argv, facts, settings["sched"] == "procfs")
    Patch().install()
    _record.flush()  # what the program is, is told even if it does not live for a tenth of a second


def _stop_recorder() -> None:
    from unjank import _record

    _record.stop("exited")


def _execute(code: CodeType, module: ModuleType) -> None:
    try:
        exec(code, module.__dict__)  # noqa: S102  this is what the user asked for
    except SystemExit:
        raise
    except BaseException:
        _hide_own_frames()
        raise


def _hide_own_frames() -> None:
    """Makes the traceback that Python is about to print start with the program's first frame."""
    hook = sys.excepthook

    def without_own_frames(
        kind: type[BaseException], error: BaseException, traceback: TracebackType | None
    ) -> None:
        own = without_own_frames.__code__.co_filename
        while traceback is not None and traceback.tb_frame.f_code.co_filename in (own, "<frozen runpy>"):
            traceback = traceback.tb_next
        hook(kind, error.with_traceback(traceback), traceback)

    sys.excepthook = without_own_frames


def _find_script(settings: dict[str, Any]) -> tuple[CodeType, ModuleType]:
    script: str = settings["program"]
    sys.argv = [script, *settings["arguments"]]
    path = _absolute(script)
    if os.path.isdir(script) or _is_zip(script):  # noqa: PTH112  pathlib is heavy in the program
        _search_first(path)
        return _load("__main__", script)
    if not sys.flags.safe_path:
        _search_first(os.path.dirname(os.path.realpath(script)))  # noqa: PTH120  as above
    try:
        with open(script, "rb") as file:  # noqa: PTH123  as above
            source = file.read()
    except OSError as error:
        raise CannotStartError(
            f"cannot start {script}: {error.strerror}; give the path of a script"
        ) from error
    loader = SourceFileLoader("__main__", path)
    return _compile(source, path), _main_module(__file__=path, __cached__=None, __loader__=loader)


def _absolute(script: str) -> str:
    """The path as Python shows it in `__file__` and tracebacks: dots and links stay."""
    return os.path.join(os.getcwd(), script)  # noqa: PTH109, PTH118  as above


def _search_first(folder: str) -> None:
    """Puts the folder where Python puts the script's own; `python -m` has put the current one there."""
    if sys.flags.safe_path:
        sys.path.insert(0, folder)
    else:
        sys.path[0] = folder


def _compile(source: bytes, path: str) -> CodeType:
    try:
        return compile(source, path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        # Python's own report and exit code for a script that does not compile.
        sys.excepthook(type(error), error.with_traceback(None), None)
        sys.exit(1)


def _is_zip(path: str) -> bool:
    try:
        with open(path, "rb") as file:  # noqa: PTH123  pathlib is heavy in the program
            return file.read(4) == b"PK\x03\x04"
    except OSError:
        return False


def _find_module(settings: dict[str, Any]) -> tuple[CodeType, ModuleType]:
    sys.argv = ["-m", *settings["arguments"]]
    name: str = settings["program"]
    return _load(name, name)


def _load(name: str, shown: str) -> tuple[CodeType, ModuleType]:
    """Finds a module, or a package's `__main__`, as `python -m` does."""
    from importlib.util import find_spec

    own_main = sys.modules.pop("__main__", None) if name == "__main__" else None
    try:
        spec = find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = find_spec(f"{name}.__main__")
    except (ImportError, ValueError) as error:
        raise CannotStartError(f"cannot start {shown}: {error}") from error
    finally:
        if own_main is not None:
            sys.modules["__main__"] = own_main
    get_code = getattr(spec.loader, "get_code", None) if spec is not None else None
    code = get_code(spec.name) if spec is not None and get_code is not None else None
    if spec is None or code is None:
        raise CannotStartError(f"cannot start {shown}: no module of that name that can be run")
    if name != "__main__":
        sys.argv[0] = str(spec.origin)
    module = _main_module(
        __file__=spec.origin, __cached__=spec.cached, __spec__=spec, __loader__=spec.loader,
        __package__=spec.parent,
    )  # fmt: skip
    return code, module


def _main_module(**attributes: object) -> ModuleType:
    import builtins

    module = ModuleType("__main__")
    module.__dict__.update(__builtins__=builtins, __loader__=None, __spec__=None, __package__=None)
    module.__dict__.update(attributes)
    return module


if __name__ == "__main__":
    main()
