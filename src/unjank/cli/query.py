"""`unjank query`: SQL on a trace."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from unjank import UnjankError
from unjank.cli._engine import Engine, EngineChoice, ShellPath
from unjank.cli._interrupt import interruptible


class OutputFormat(StrEnum):
    """What the result is written as."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"


_STDIO = "-"


def query(
    trace: Annotated[Path, typer.Argument(help="Trace file.", show_default=False)],
    sql: Annotated[
        str | None,
        typer.Argument(help="PerfettoSQL; '-' reads it from standard input.", show_default=False),
    ] = None,
    file: Annotated[
        Path | None, typer.Option("-f", "--file", help="Read the SQL from a file.", show_default=False)
    ] = None,
    output_format: Annotated[OutputFormat, typer.Option("--format", help="Output.")] = OutputFormat.TABLE,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write to a file.", show_default=False)
    ] = None,
    engine: EngineChoice = None,
    shell_path: ShellPath = None,
) -> None:
    """Run SQL on a trace. Of several statements the last one's rows are printed.

    Data goes to standard output, notes about the trace to standard error.
    """
    statements = read_sql(sql, file)
    if output_format is OutputFormat.PARQUET and output is None and sys.stdout.isatty():
        raise typer.BadParameter("parquet is not for a terminal; write it to a file with -o FILE.")
    _run(trace, statements, output_format, output, engine, shell_path)


def _run(
    trace: Path,
    sql: str,
    output_format: OutputFormat,
    output: Path | None,
    engine: Engine | None,
    shell_path: Path | None,
) -> None:
    # Loaded here: every other command starts without the engine.
    from unjank.trace import TraceProcessor
    from unjank.trace.export.formats import WRITERS
    from unjank.trace.export.output import open_output

    with TraceProcessor(trace, engine=engine.value if engine else None, shell_path=shell_path) as tp:
        for note in tp.notes:
            typer.echo(f"unjank: note: {note}", err=True)
        target = None if output == Path(_STDIO) else output
        with open_output(target) as out, interruptible(out.discard):
            writer = WRITERS[output_format.value](out.stream)
            try:
                tp.stream(sql, writer.write)
            except UnjankError:
                writer.abandon()
                raise
            writer.finish()


def read_sql(sql: str | None, file: Path | None) -> str:
    """SQL from an argument, a file, or standard input.

    Raises:
        UnjankError: The file can't be read, or is not text.
    """
    if sql is not None and file is not None:
        raise typer.BadParameter("give SQL or -f FILE, not both.")
    if sql is not None and sql != _STDIO:
        return sql
    if file is not None and str(file) != _STDIO:
        return _read_file(file)
    if sql is None and file is None and sys.stdin.isatty():
        raise typer.BadParameter("give SQL, -f FILE, or SQL on standard input.")
    return _decoded(sys.stdin.buffer.read(), "standard input")


def _read_file(file: Path) -> str:
    try:
        return _decoded(file.read_bytes(), str(file))
    except OSError as error:
        raise UnjankError(f"{file}: can't be read: {error.strerror}") from error


def _decoded(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnjankError(f"{name}: is not SQL in UTF-8 (byte {error.start})") from None
