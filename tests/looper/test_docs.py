"""The page's examples run, and so does the demo."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
PAGE = PROJECT / "docs" / "looper.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def run(*arguments: str) -> str:
    """The program's output; it must end well and silently."""
    ended = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, timeout=120, check=False
    )
    assert (
        ended.returncode,
        ended.stderr.replace("no right to set nice -10; going on with what there is\n", ""),
    ) == (0, "")
    return ended.stdout


@pytest.mark.parametrize("example", EXAMPLES, ids=range(len(EXAMPLES)))
def test_examples_of_the_page_run(example: str) -> None:
    """As they stand, each in an interpreter of its own."""
    run("-c", example)


def test_the_first_example_does_what_it_says() -> None:
    """In that order; on a slow machine the delayed message may be due before the block ends."""
    lines = run("-c", EXAMPLES[0]).splitlines()
    assert [line for line in lines if line != "in 16 ms"] == ["as soon as possible", "and wait for it"]


def test_the_demo_prints_the_numbers_of_its_twin() -> None:
    """Frames, missed frames, longest stall: the line that launcher_jank.py prints."""
    line = re.compile(r"[1-9]\d* frames drawn, \d+ missed, longest stall \d+\.\d ms\n")
    assert line.fullmatch(run(str(PROJECT / "examples" / "launcher_smooth.py")))
