"""Plots of a benchmark's document."""

import sys
from pathlib import Path
from typing import Any

import pytest

from unjank import UnjankError
from unjank.bench import plot, require_plotting

RATIO = {"median": 2.0, "low": 1.5, "high": 3.0, "of": "rate"}
CONTENT: dict[str, Any] = {
    "benchmark": "queue",
    "machine": {"cpu": "Fast <9000>", "cpus": 4, "python": "3.13.0", "gil": False},
    "ratios": {
        "met_ratio": RATIO | {"goal": {"at_least": 1.0}, "met": True},
        "plain_ratio": RATIO,
        "idle_share": RATIO | {"median": 0.0, "low": 0.0, "high": 0.0, "goal": {"at_most": 0.0}, "met": True},
    },
    "results": [
        {"name": "post_growth", "unit": "ns/post", "median": 10.0 * n, "backlog": 10**n, "queue": "deliqueue"}
        for n in (3, 4, 5)
    ]
    + [
        {"name": "wake_up", "unit": "ns", "median": 1e3 * n, "of": "looper", "quantile": f"p{n}"}
        for n in (50, 99)
    ],
}


def test_the_plot_names_what_it_shows(tmp_path: Path) -> None:
    """An SVG has every ratio, line and quantile by name, and the machine, escaped."""
    import matplotlib

    target = tmp_path / "figures.svg"
    with matplotlib.rc_context({"svg.fonttype": "none"}):
        plot(CONTENT, target)
    text = target.read_text()
    for part in ("met_ratio", "plain_ratio", "idle_share", "post growth deliqueue", "Fast &lt;9000&gt;"):
        assert part in text
    for part in (">looper<", ">p50<", ">p99<", ">99<"):
        assert part in text


def test_a_png_is_one(tmp_path: Path) -> None:
    """The ending decides on the format; without lines there is one panel."""
    target = tmp_path / "figures.png"
    plot(CONTENT | {"results": []}, target)
    assert target.read_bytes().startswith(b"\x89PNG")


def test_other_endings_are_refused_before_anything_is_measured(tmp_path: Path) -> None:
    """The error lists what can be written."""
    with pytest.raises(UnjankError, match=r"must end in \.svg, \.png, \.pdf"):
        require_plotting(tmp_path / "figures.txt")


def test_unwritable_plot_is_one_line(tmp_path: Path) -> None:
    """The error names the file, the cause and the option."""
    with pytest.raises(UnjankError, match="No such file or directory; name another file with --plot"):
        plot(CONTENT, tmp_path / "no" / "figures.svg")


def test_missing_matplotlib_is_named_with_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it the error names the extra to install."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(UnjankError, match=r"needs matplotlib, .* pip install 'unjank\[bench\]'"):
        require_plotting(Path("figures.svg"))
