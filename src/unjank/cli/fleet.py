"""`unjank fleet`: the same question to many traces."""

import re
import sys
import time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from unjank.cli._engine import Engine, ShellPath
from unjank.cli.query import read_sql

if TYPE_CHECKING:
    from unjank.fleet import FleetResult, Limits

EXIT_THRESHOLD_CROSSED = 1
SCHEMA = "unjank.fleet/1"
_MOST_TOLD = 3  # failed traces; the table of errors has all
# An argument that starts like this, and is no file, is SQL rather than a trace.
_LOOKS_LIKE_SQL = re.compile(
    r"\s*(--|/\*|(select|with|include|create|values|explain|drop|pragma)\b.*\s)", re.IGNORECASE | re.DOTALL
)
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", re.IGNORECASE)
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


class AggregateFormat(StrEnum):
    """What the rows of --aggregate are printed as."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"


def fleet(
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SQL] TRACES…",
            help="PerfettoSQL, unless -f gives it or the findings are wanted; then traces: files, globs, "
            "folders, fsspec URLs, or @FILE with names ('@-': standard input).",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", help="Folder of the result; a path or an fsspec URL.", metavar="DIR"),
    ] = None,
    file: Annotated[
        Path | None, typer.Option("-f", "--file", help="Read the SQL from a file.", show_default=False)
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes.", show_default="by CPUs and memory")
    ] = None,
    dask: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Let the workers of this Dask scheduler do it.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the result in DIR.")] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="With --resume, try failed traces again.")
    ] = False,
    aggregate: Annotated[
        str | None,
        typer.Option(
            metavar="SQL", help="Then print this DuckDB SQL over the tables results, errors and traces."
        ),
    ] = None,
    aggregate_format: Annotated[
        AggregateFormat, typer.Option("--format", help="Of --aggregate's rows.")
    ] = AggregateFormat.TABLE,
    timeout: Annotated[float, typer.Option(help="Seconds per trace.")] = 300.0,
    memory: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE", help="Of the engine, per trace, such as 2G.", show_default="the machine's share"
        ),
    ] = None,
    max_rows: Annotated[int, typer.Option(min=1, help="Rows per trace.")] = 1_000_000,
    max_result: Annotated[str, typer.Option(metavar="SIZE", help="Of the rows, per trace.")] = "128M",
    accept_incomplete: Annotated[
        bool,
        typer.Option(
            "--accept-incomplete", help="Take what is left of traces that are cut off, rather than fail them."
        ),
    ] = False,
    max_errors: Annotated[
        int | None, typer.Option(min=0, help="Exit with 1 if more traces fail.", show_default="any number")
    ] = None,
    json: Annotated[
        str | None, typer.Option(metavar="FILE|-", help="Write how it went as JSON; '-' is standard output.")
    ] = None,
    engine: Annotated[
        Engine | None,
        typer.Option(help="wasm: in the worker; shell: a trace_processor_shell.", show_default="wasm"),
    ] = None,
    shell_path: ShellPath = None,
) -> None:
    """Ask many traces the same: SQL or, without any, the findings of `unjank report`.

    Rows go to DIR/results/*.parquet, traces that failed to DIR/errors.parquet, all traces to
    DIR/traces.parquet. Without TRACES, --aggregate asks the result that is in DIR.
    """
    if output is None:
        raise typer.BadParameter("say with -o DIR where the result goes.")
    if retry_failed and not resume:
        raise typer.BadParameter("--retry-failed goes with --resume.")
    sql, traces = _split(arguments or [], file)
    if not traces and (aggregate is None or sql is not None):
        raise typer.BadParameter("give traces; or --aggregate SQL alone, for a result that is there.")
    result = _result(
        traces,
        sql,
        output,
        json,
        workers=workers,
        dask=dask,
        resume=resume,
        retry_failed=retry_failed,
        accept_incomplete=accept_incomplete,
        limits=(timeout, memory, max_rows, max_result),
        engine=engine.value if engine else None,
        shell_path=shell_path,
    )
    if aggregate is not None:
        _print(result, aggregate, aggregate_format)
    _require_few_errors(result, max_errors)


def _result(
    traces: list[str],
    sql: str | None,
    output: str,
    json: str | None,
    *,
    limits: tuple[float, str | None, int, str],
    **options: Any,  # noqa: ANN401  those of run_fleet, by their names
) -> "FleetResult":
    """Runs over the traces, or opens the result that is there."""
    # Imported here: the engine and rich take a while, which the other commands need not wait for.
    from unjank.fleet import open_fleet, run_fleet, terminal_progress

    if not traces:
        return open_fleet(output)
    begin = time.monotonic()
    try:
        result = run_fleet(
            traces, sql, output, limits=_limits(*limits), show_progress=terminal_progress, **options
        )
    except KeyboardInterrupt:
        typer.echo(f"unjank: interrupted; what is done is in {output}, go on with --resume", err=True)
        raise
    _tell(result, time.monotonic() - begin, json)
    return result


def _split(arguments: list[str], file: Path | None) -> tuple[str | None, list[str]]:
    """Which of the arguments are SQL and which traces."""
    if file is not None:
        return read_sql(None, file), arguments
    if arguments and _LOOKS_LIKE_SQL.match(arguments[0]) and not Path(arguments[0][:255]).exists():
        return arguments[0], arguments[1:]
    return None, arguments


def _limits(timeout: float, memory: str | None, max_rows: int, max_result: str) -> "Limits":
    from unjank.fleet import Limits

    return Limits(
        seconds=timeout,
        memory_bytes=None if memory is None else _bytes(memory),
        rows=max_rows,
        result_bytes=_bytes(max_result),
    )


def _bytes(size: str) -> int:
    match = _SIZE.fullmatch(size.strip())
    if not match:
        raise typer.BadParameter(f"{size!r} is not a size; write it as 512M or 2G.")
    return int(float(match[1]) * _UNITS[match[2].upper()])


def _tell(result: "FleetResult", seconds: float, json: str | None) -> None:
    totals = result.totals
    assert totals is not None, "a run that ended has totals"
    words = f"{totals.rows} rows of {totals.traces} traces"
    if totals.failed:
        words += f"; {totals.failed} failed, see errors.parquet"
    typer.echo(f"unjank: {words} in {result.place}", err=True)
    errors = result.errors().arrow().to_pylist()
    _tell_errors(errors)
    if json is None:
        return
    from unjank._json_file import write_json

    document = {
        "schema": SCHEMA,
        "place": result.place,
        "traces": totals.traces,
        "rows": totals.rows,
        "failed": totals.failed,
        "seconds": round(seconds, 3),
        "errors": errors,
    }
    target: Path | TextIO = sys.stdout if json == "-" else Path(json)
    write_json(document, target, indent=2)


def _tell_errors(errors: list[dict[str, str]]) -> None:
    """Names the first traces that failed, so that one wrong path needs no look into the table."""
    from unjank.report._words import clean

    for error in errors[:_MOST_TOLD]:
        typer.echo(f"unjank: failed: {clean(error['trace'])}: {clean(error['cause'])}", err=True)
    if len(errors) > _MOST_TOLD:
        typer.echo(f"unjank: failed: {len(errors) - _MOST_TOLD} more", err=True)


def _print(result: "FleetResult", sql: str, form: AggregateFormat) -> None:
    from unjank.fleet import print_table
    from unjank.trace.export.output import open_output

    table: Any = result.aggregate(sql).arrow()
    with open_output(None) as out:
        print_table(table, form.value, out.stream)


def _require_few_errors(result: "FleetResult", most: int | None) -> None:
    failed = len(result.errors())
    if most is not None and failed > most:
        typer.echo(f"unjank: {failed} traces failed (--max-errors {most})", err=True)
        raise typer.Exit(EXIT_THRESHOLD_CROSSED)
