"""Makes the page: one file with everything in it, which may load and run nothing else."""

import base64
import hashlib
import re
import shlex
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from unjank import __version__
from unjank.findings import Evidence, FindingSet, Severity, format_duration
from unjank.report._terminal import lead_sentence
from unjank.report._words import as_sentence, clean
from unjank.report.html._coverage import read_coverage
from unjank.report.html._stalls import worst_stalls
from unjank.report.html._tables import tables

MOST_STALLS = 12
_BREAKS = re.compile(r"(?<=[._$/])(?=\w)")
_TEMPLATES = Path(__file__).parent / "templates"


def render_html(evidence: Evidence, found: FindingSet, *, trace: str, engine: str) -> str:
    """Makes the report as one HTML page.

    Args:
        evidence: The trace, from which the pictures are made.
        found: What was found in it.
        trace: The trace's path, as the user gave it.
        engine: The engine that read it.
    """
    style, script = _asset("style.css"), _asset("script.js")
    return (
        _environment()
        .get_template("page.html")
        .render(
            trace=Path(trace).name,
            view_command=f"unjank view {shlex.quote(trace)}",
            lead=lead_sentence(found),
            worst=found.findings[0].severity.value if found.findings else None,
            counts=[(each.value, number) for each, number in _counts(found)],
            length=format_duration(evidence.bounds.dur),
            stalls=worst_stalls(evidence, found, MOST_STALLS),
            tables=tables(found.findings),
            coverage=read_coverage(evidence),
            notes=[as_sentence(note) for note in found.notes],
            engine=engine,
            version=__version__,
            style=style,
            script=script,
            policy=_policy(style, script),
        )
    )


def _counts(found: FindingSet) -> list[tuple[Severity, int]]:
    counts = Counter(finding.severity for finding in found.findings)
    return [(severity, counts[severity]) for severity in Severity if counts[severity]]


def _policy(*trusted: str) -> str:
    """Nothing may be loaded, and of scripts and styles only those of the page itself run."""
    style, script = (_hash(text) for text in trusted)
    return (
        f"default-src 'none'; style-src '{style}'; script-src '{script}'; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


@cache
def _environment() -> Environment:
    """All that is put into a template is escaped; control characters and such show as escapes."""
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    environment.filters["lines"] = _lines
    environment.filters["breakable"] = _breakable
    return environment


def _shown(value: Any) -> Any:  # noqa: ANN401  jinja2 passes whatever a template puts out
    return clean(value) if isinstance(value, str) and not hasattr(value, "__html__") else value


def _lines(text: str) -> Markup:
    """Text of our own with line breaks, such as SQL."""
    return Markup("\n").join(escape(clean(line)) for line in text.splitlines())


def _breakable(text: str) -> Markup:
    """Text that may be broken after the marks within names of code, so that long ones need not be cut."""
    return Markup("<wbr>").join(escape(part) for part in _BREAKS.split(clean(text)))


def _asset(name: str) -> Markup:
    return Markup((_TEMPLATES / name).read_text("utf-8"))  # noqa: S704  our own file
