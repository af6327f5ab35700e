"""Shapes: true to scale, within the picture, and not more of them than can be seen."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unjank.report.html._drawing import NARROW, WIDE, Format, _tick_step, draw
from unjank.report.html._timeline import Lane, Span, Timeline


def timeline(*lanes: Lane, start: int = 0, end: int = 1000) -> Timeline:
    """A timeline whose middle was lost."""
    span = end - start
    return Timeline(start, end, start + span // 4, end - span // 4, lanes, (), "")


def lane(*spans: tuple[int, int], kind: str = "running") -> Lane:
    """A lane of a thread with such states."""
    return Lane("a thread", "waits", (), tuple(Span(a, b, kind, "label", "words", b - a) for a, b in spans))


def test_true_to_scale() -> None:
    """Boxes stand where their time is."""
    drawing = draw(timeline(lane((0, 250), (250, 1000))), WIDE)
    lost, first, second = drawing.boxes
    room = WIDE.width - WIDE.margin - 2
    assert lost.kind == "lost"
    assert first.x == WIDE.margin + 1
    assert first.width == pytest.approx(room / 4, abs=0.2)
    assert second.x == pytest.approx(first.x + first.width, abs=0.2)
    assert lost.x == pytest.approx(second.x, abs=0.2)


@pytest.mark.parametrize("form", [WIDE, NARROW], ids=lambda form: form.name)
def test_no_more_boxes_than_pixels(form: Format) -> None:
    """A hundred thousand switches make a picture of a bounded size; what lasted longest is what is seen."""
    spans = [(n * 10, n * 10 + (9 if n % 7 else 3)) for n in range(100_000)]
    drawing = draw(timeline(lane(*spans), end=1_000_000), form)
    assert len(drawing.boxes) <= form.width + 2
    assert any("more that are too short to show" in box.words for box in drawing.boxes)


@given(
    st.integers(1, 10**12),
    st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)), max_size=30),
    st.sampled_from([WIDE, NARROW]),
)
def test_all_within_the_picture(end: int, cuts: list[tuple[int, int]], form: Format) -> None:
    """Whatever the spans, nothing is drawn outside, and every box can be seen."""
    spans = sorted((min(pair) * end // 10**6, max(pair) * end // 10**6) for pair in cuts)
    drawing = draw(timeline(lane(*spans), lane(*spans, kind="wait"), end=end), form)
    for box in drawing.boxes:
        assert box.width >= 1
        assert box.x >= form.margin
        assert box.x + box.width <= form.width + 1
        assert 0 < box.y < box.y + box.height <= drawing.height + 1
    for line in drawing.lines:
        assert form.margin <= line.x <= form.width


def test_labels_fit() -> None:
    """A label is cut to its box, and left out where not even a few characters fit."""
    long = Span(0, 300, "running", "a name that is much too long for it", "", 300)
    short = Span(300, 310, "running", "another", "", 10)
    drawing = draw(timeline(Lane("t", "r", (), (long, short))), NARROW)
    labels = [box.label for box in drawing.boxes if box.kind == "running"]
    assert labels[0].startswith("a name")
    assert labels[0].endswith("…")
    assert len(labels[0]) * 6 < 0.3 * NARROW.width
    assert labels[1] == ""


def test_phone_has_names_above_the_lanes() -> None:
    """On a phone the whole width is for the time."""
    names = [label for label in draw(timeline(lane((0, 1000))), NARROW).labels if label.kind == "name"]
    assert [(label.x, label.text, label.more) for label in names] == [(0, "a thread", "waits")]


@given(st.floats(0, 1e15))
def test_tick_steps_are_round(at_least: float) -> None:
    """Numbers on the axis are multiples of 1, 2 or 5 times a power of ten, and not too dense."""
    step = _tick_step(at_least)
    assert step >= at_least
    assert str(step).rstrip("0") in {"1", "2", "5"}
