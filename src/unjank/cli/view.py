"""`unjank view`: the Perfetto UI with a trace open, served locally, offline."""

from pathlib import Path
from typing import Annotated

import typer


def view(
    trace: Annotated[Path, typer.Argument(help="Trace file, of any kind that Perfetto opens.")],
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="Port on 127.0.0.1; 0 is any free one. [default: 9040 if free]"),
    ] = None,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the address, open nothing.")
    ] = False,
) -> None:
    """Open a trace in the Perfetto UI, without the network.

    Ends when the tab is closed, or on Ctrl-C.
    """
    from unjank.view import open_browser, serve_trace

    try:
        with serve_trace(trace, port=port) as served:
            typer.echo(served.url)
            if no_browser or not open_browser(served.url):
                typer.echo("unjank: open this address in a browser on this machine", err=True)
            typer.echo("unjank: ends when the tab is closed, or on Ctrl-C", err=True)
            served.wait_until_left()
    except KeyboardInterrupt:
        pass  # one of the two ways to end it
