"""The command line: one command per file, thin: parse, call, print."""

from unjank.cli._main import main

__all__ = ["main"]
