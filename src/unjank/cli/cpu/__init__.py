"""`unjank cpu`: where and how threads run, from the command line.

Layout: one command per file; `_main` collects them, `_options` has what they share, `_threads` finds out
whose setting is meant, `_change` shows a change and its effect, `_command` runs a program of the user's.
"""

from unjank.cli.cpu._main import cpu

__all__ = ["cpu"]
