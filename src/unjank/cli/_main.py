"""The `unjank` command: collects the commands, turns expected errors into one line and an exit code."""

import os
import sys
from collections.abc import Sequence

import typer
from typer.exceptions import TyperException

from unjank import UnjankError, __version__
from unjank.cli._help import unwrap
from unjank.cli.atomics import atomics
from unjank.cli.bench import bench
from unjank.cli.compare import compare
from unjank.cli.cpu import cpu
from unjank.cli.doctor import doctor
from unjank.cli.fleet import fleet
from unjank.cli.mcp import mcp
from unjank.cli.query import query
from unjank.cli.report import report
from unjank.cli.run import run
from unjank.cli.view import view

EXIT_BAD_INPUT = 2
EXIT_INTERRUPTED = 130

app = typer.Typer(
    name="unjank",
    help="Find what your threads wait for, and stop the wait.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"unjank {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """Find what your threads wait for, and stop the wait."""


app.add_typer(atomics)
app.add_typer(bench)
app.add_typer(cpu)
app.command()(compare)
app.command()(doctor)
app.command()(fleet)
app.command()(mcp)
app.command()(query)
app.command()(report)
app.command(context_settings={"allow_interspersed_args": False})(run)
app.command()(view)


def main(argv: Sequence[str] | None = None) -> None:
    """Runs one command and exits: 0 done, 1 threshold crossed, 2 wrong usage or bad input, 3 not started."""
    sys.exit(_run(argv))


def _run(argv: Sequence[str] | None) -> int:
    command = typer.main.get_command(app)
    unwrap(command)
    arguments = None if argv is None else list(argv)
    try:
        result = command.main(args=arguments, prog_name="unjank", standalone_mode=False)
    except TyperException as error:
        return _misused(error)
    except UnjankError as error:
        return _fail(str(error))
    except (typer.Abort, KeyboardInterrupt):
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        return _reader_gone()
    except SystemExit as ended:
        # How typer and rich put it, with an exit code that means something else here.
        if isinstance(ended.__context__, BrokenPipeError):
            return _reader_gone()
        raise
    return result if isinstance(result, int) else 0


def _misused(error: TyperException) -> int:
    message = error.format_message().strip().removesuffix(".")
    if not message:  # a group without a command: its help was printed instead
        return EXIT_BAD_INPUT
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "unjank"
    return _fail(f"{message}. See '{path} --help'.")


def _reader_gone() -> int:
    """The reader of our output had enough, as `head` has: nothing to say, and nothing to flush at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _fail(message: str) -> int:
    print(f"unjank: {message}", file=sys.stderr)  # noqa: T201  the one place that reports errors
    return EXIT_BAD_INPUT
