"""The documentation is true: its examples run, its links lead somewhere."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[1]
PAGES = sorted([*PROJECT.glob("*.md"), *(PROJECT / "docs").glob("*.md")])
EXAMPLES = sorted((PROJECT / "examples").glob("*.py"))
LINK = re.compile(r"\]\((?!https?://|#)([^)#]+)")
EXAMPLE = re.compile(r"<!-- example: (\S+) -->\n```python\n(.*?)```", re.DOTALL)
COMMAND = re.compile(r"`unjank ([a-z]+)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    """Every relative link of a page names a file that is there."""
    targets = LINK.findall(page.read_text())
    assert [target for target in targets if not (page.parent / target).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_shown_code_is_that_of_an_example(page: Path) -> None:
    """A block marked with an example's name has only lines of that example."""
    for name, block in EXAMPLE.findall(page.read_text()):
        lines = [line.strip() for line in (PROJECT / "examples" / name).read_text().splitlines()]
        for line in filter(None, map(str.strip, block.splitlines())):
            assert line in lines, (name, line)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_examples_run(example: Path, tmp_path: Path) -> None:
    """Each example ends well, as a user would start it."""
    done = subprocess.run(
        [sys.executable, str(example)], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_readme_names_only_commands_that_exist() -> None:
    """`unjank NAME` in the README is a command of the command line."""
    commands = {path.stem for path in (PROJECT / "src" / "unjank" / "cli").glob("[a-z]*")}
    assert set(COMMAND.findall((PROJECT / "README.md").read_text())) <= commands | {"run"}
