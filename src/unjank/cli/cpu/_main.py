"""Collects the commands of `unjank cpu`."""

import typer

from unjank.cli.cpu.boost import boost
from unjank.cli.cpu.nice import nice
from unjank.cli.cpu.pin import pin
from unjank.cli.cpu.place import place
from unjank.cli.cpu.show import show
from unjank.cli.cpu.stat import stat

cpu = typer.Typer(
    name="cpu",
    help="Control where and how urgently threads run, and see what they do.",
    no_args_is_help=True,
)
cpu.command()(show)
cpu.command()(pin)
# Nice values may be negative: -5 is a value, not an option.
cpu.command(context_settings={"ignore_unknown_options": True})(nice)
cpu.command()(boost)
cpu.command()(stat)
cpu.command()(place)
