"""`unjank atomics`: Atomic*FieldUpdater calls in jars and AARs, found and made direct."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unjank import UnjankError
from unjank.cli._json_option import check_target

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unjank.jvm import OptimizeResult, ScanResult

SCHEMA = "unjank.atomics/1"
_ARCHIVES = (".jar", ".aar", ".war", ".ear")

atomics = typer.Typer(
    name="atomics",
    help="Find Atomic*FieldUpdater calls in jars, AARs and APKs, and make them direct.",
    no_args_is_help=True,
)


class Target(StrEnum):
    """What direct calls use."""

    UNSAFE = "unsafe"
    VARHANDLE = "varhandle"


class Signatures(StrEnum):
    """What is done with a signed archive."""

    REFUSE = "refuse"
    REMOVE = "remove"


Json = Annotated[
    str | None,
    typer.Option(
        metavar="FILE|-", help="Write every updater and call as JSON; '-' is standard output, then alone."
    ),
]
List = Annotated[bool, typer.Option("--list", help="List every call, and what it is or would be made.")]


@atomics.command()
def scan(
    paths: Annotated[
        list[Path], typer.Argument(metavar="JAR|AAR|APK|DIR...", help="Archives, or folders of classes.")
    ],
    json: Json = None,
    list_calls: List = False,
) -> None:
    """Tell which updater calls could be made direct, and why not the others. Writes nothing."""
    from unjank.jvm import scan_archive

    check_target(json)
    results = [scan_archive(path) for path in paths]
    _report("scan", results, json, list_calls=list_calls)


@atomics.command()
def optimize(
    paths: Annotated[
        list[Path], typer.Argument(metavar="JAR|AAR|DIR...", help="Archives, or folders of them.")
    ],
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="PATH",
            help="The file to write; a folder for several, or with / at its end.",
        ),
    ],
    target: Annotated[
        Target | None,
        typer.Option(
            help="unsafe: Android, JDK up to 23; varhandle: JDK 9 and newer.",
            show_default="unsafe for AARs, varhandle for jars",
        ),
    ] = None,
    checked: Annotated[
        bool, typer.Option("--checked", help="Keep the updaters' type checks in the helpers, for debugging.")
    ] = False,
    signatures: Annotated[
        Signatures, typer.Option(help="Signed archives: refuse them, or remove the signatures.")
    ] = Signatures.REFUSE,
    json: Json = None,
    list_calls: List = False,
) -> None:
    """Make proven updater calls direct; the JSON is the proof log."""
    from unjank.jvm import OptimizeOptions, optimize_archive

    check_target(json)
    options = OptimizeOptions(target.value if target else None, checked, signatures.value)
    results = []
    for source, destination in _jobs(paths, output):
        _make_folder(destination.parent)
        results.append(optimize_archive(source, destination, options))
    _report("optimize", results, json, list_calls=list_calls)


def _jobs(paths: list[Path], target: str) -> list[tuple[Path, Path]]:
    """Which archive is written where: several go into a folder, those of a folder keep their places in it.

    Raises:
        UnjankError: There is nothing to do, or two would be written to one file.
    """
    output = Path(target)
    several = len(paths) > 1 or paths[0].is_dir() or output.is_dir() or target.endswith("/")
    if several and output.is_file():
        raise UnjankError(f"{output} is a file; several archives need a folder with -o")
    jobs = [
        (source, output / place if several else output) for path in paths for source, place in _below(path)
    ]
    destinations = [destination for _, destination in jobs]
    for source, destination in jobs:
        if destinations.count(destination) > 1:
            raise UnjankError(f"{source} and another archive would both become {destination}; run them apart")
    return jobs


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UnjankError(
            f"cannot make the folder {folder}: {error.strerror}; name another place with -o"
        ) from error


def _below(path: Path) -> list[tuple[Path, Path]]:
    if not path.is_dir():
        return [(path, Path(path.name))]
    found = [
        (file, file.relative_to(path)) for file in sorted(path.rglob("*")) if file.suffix.lower() in _ARCHIVES
    ]
    if not found:
        raise UnjankError(f"there is no jar or AAR below {path}; name the archives")
    return found


def _report(
    command: str, results: "Sequence[ScanResult | OptimizeResult]", json: str | None, *, list_calls: bool
) -> None:
    from unjank._json_file import write_json

    document = {"schema": SCHEMA, "command": command, "archives": [_document(result) for result in results]}
    if json == "-":
        write_json(document, sys.stdout, indent=1)
        return
    for result in results:
        _print(result, list_calls=list_calls)
    if json:
        write_json(document, Path(json), indent=1)


def _document(result: "ScanResult | OptimizeResult") -> dict[str, Any]:
    from dataclasses import asdict

    return asdict(result)


def _print(result: "ScanResult | OptimizeResult", *, list_calls: bool) -> None:
    from unjank.cli._atomics_table import print_result

    print_result(result, list_calls=list_calls)
