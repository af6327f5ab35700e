"""The rewriter as the tests here call it, and what they compare."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from unjank.bench.updaters import Jdk
from unjank.bench.updaters.toolchain import Ran, run_java
from unjank.jvm import OptimizeOptions, OptimizeResult, optimize_archive

Target = Literal["unsafe", "varhandle"]


@dataclass(frozen=True)
class Way:
    """How the rewriter is asked to work.

    Attributes:
        target: What the direct calls are made with.
        checked: Whether type checks stay.
    """

    target: Target
    checked: bool = False

    def __str__(self) -> str:
        return f"{self.target}{'-checked' if self.checked else ''}"

    @property
    def options(self) -> OptimizeOptions:
        """As the rewriter takes it."""
        return OptimizeOptions(target=self.target, checked=self.checked)

    def rewrite(self, jar: Path, output: Path) -> OptimizeResult:
        """Rewrites one archive."""
        return optimize_archive(jar, output, self.options)


WAYS = (Way("varhandle"), Way("unsafe"), Way("varhandle", checked=True), Way("unsafe", checked=True))


Rewritten = Callable[[Way], tuple[list[Path], list[OptimizeResult]]]
"""Gives the rewritten jars of a way, made when they are first asked for."""


def runs(jdk: Jdk, main: str, classpath: Iterable[Path], *options: str, arguments: Iterable[str] = ()) -> Ran:
    """Runs a program that must end well; its transcript is what counts."""
    done = run_java(jdk, main, list(arguments), classpath=list(classpath), options=options)
    assert done.exit_code == 0, done.stderr[-4000:] + done.stdout[-2000:]
    return done


def first_difference(before: str, after: str) -> str:
    """The first lines that differ, for a message that can be read; empty if none do."""
    old, new = before.splitlines(), after.splitlines()
    for left, right in zip(old, new, strict=False):
        if left != right:
            return f"before: {left}\nafter:  {right}"
    return "" if len(old) == len(new) else f"{len(old)} lines before, {len(new)} after"
