"""Turns a timeline into shapes with coordinates, for a wide page and for a phone."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import ceil, floor, log10

from unjank.findings import format_duration
from unjank.report.html._timeline import Lane, Span, Timeline

_AXIS = 24
_UPPER, _LOWER, _LANE_GAP = 20, 14, 12
_CHARACTER = 6.4  # width of an average character of the labels' font
_SMALLEST = 1.0  # narrower spans are put together
_TICK_STEPS = (1, 2, 5, 10)


@dataclass(frozen=True)
class Format:
    """The measures of a picture in CSS pixels.

    Attributes:
        name: What the page's style knows it by.
        width: All of it.
        margin: Room for the lanes' names at the left; 0 puts them above their lanes.
        ticks: The most numbers there may be on the axis.
        is_pointed_at: Whether there may be a mouse, to read what a box is.
    """

    name: str
    width: int
    margin: int
    ticks: int
    is_pointed_at: bool


WIDE = Format("wide", 960, 158, 9, is_pointed_at=True)
NARROW = Format("narrow", 328, 0, 4, is_pointed_at=False)


@dataclass(frozen=True)
class Box:
    """A rectangle; `words` is shown when pointed at, `label` inside."""

    x: float
    y: float
    width: float
    height: float
    kind: str
    words: str = ""
    label: str = ""


@dataclass(frozen=True)
class Line:
    """A vertical line."""

    x: float
    top: float
    bottom: float
    kind: str


@dataclass(frozen=True)
class Label:
    """Text at a point, `more` behind it in a lighter tone; `anchor` as in SVG."""

    x: float
    y: float
    text: str
    kind: str
    anchor: str = "start"
    more: str = ""


@dataclass
class Drawing:
    """Shapes in the order in which they are drawn."""

    format: Format
    height: float = 0
    boxes: list[Box] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)


def draw(timeline: Timeline, form: Format) -> Drawing:
    """Draws a timeline."""
    scale = _Scale(timeline, form)
    drawing = Drawing(form)
    top: float = _AXIS
    for lane in timeline.lanes:
        top = _draw_lane(drawing, scale, lane, top) + _LANE_GAP
    drawing.height = top - _LANE_GAP + 4
    _draw_axis(drawing, scale)
    lost = scale.x(timeline.lost_from), scale.x(timeline.lost_to)
    shade = Box(lost[0], _AXIS - 4, max(lost[1] - lost[0], 1), drawing.height - _AXIS + 4, "lost")
    drawing.boxes.insert(0, shade)
    drawing.lines += [Line(x, _AXIS - 4, drawing.height, "edge") for x in lost]
    return drawing


class _Scale:
    """From time to x."""

    def __init__(self, timeline: Timeline, form: Format) -> None:
        self.timeline = timeline
        self.form = form
        self.per_ns = (form.width - form.margin - 2) / (timeline.end - timeline.start)

    def x(self, ts: int) -> float:
        return round(self.form.margin + 1 + (ts - self.timeline.start) * self.per_ns, 1)


def _draw_lane(drawing: Drawing, scale: _Scale, lane: Lane, top: float) -> float:
    """Draws a lane and returns its bottom."""
    form = drawing.format
    upper = _UPPER if lane.upper else 0
    lower = (_LOWER if lane.upper or not lane.name.startswith("CPU ") else _UPPER) if lane.lower else 0
    if form.margin:
        room = int((form.margin - 10) / _CHARACTER)
        drawing.labels.append(Label(0, top + 12, _short(lane.name, room), "name"))
        drawing.labels.append(Label(0, top + 26, _short(lane.role, room), "role"))
        bottom = top + max(upper + lower, 28)
    else:
        drawing.labels.append(Label(0, top + 10, _short(lane.name, 26), "name", more=lane.role))
        top += 16
        bottom = top + upper + lower
    drawing.boxes += _strip(scale, lane.upper, top, upper)
    drawing.boxes += _strip(scale, lane.lower, top + upper, lower)
    return bottom


def _strip(scale: _Scale, spans: Sequence[Span], top: float, height: float) -> Iterator[Box]:
    for span in _coalesced(spans, _SMALLEST / scale.per_ns):
        x = scale.x(span.start)
        width = max(scale.x(span.end) - x, _SMALLEST)
        room = int((width - 8) / _CHARACTER)
        label = _short(span.label, room) if height >= _LOWER and room >= min(len(span.label), 5) else ""
        yield Box(x, top, round(width, 1), height, span.kind, span.words, label)


def _coalesced(spans: Iterable[Span], shortest: float) -> Iterator[Span]:
    """Puts spans together that are too short to be seen, so that a picture has no more of them than pixels.

    What lasted longest stands for all of them. Spans that lie on top of others (nested slices) come after
    those they lie on, and are kept if they can be seen.
    """
    group: list[Span] = []
    for span in spans:
        if span.end - span.start >= shortest or (group and span.start - group[0].start >= shortest):
            yield from _as_one(group)
            group = []
        if span.end - span.start >= shortest:
            yield span
        else:
            group.append(span)
    yield from _as_one(group)


def _as_one(group: Sequence[Span]) -> Iterator[Span]:
    if not group:
        return
    longest = max(group, key=lambda span: span.lasted)
    if len(group) == 1:
        yield longest
        return
    words = f"{longest.words}, and {len(group) - 1} more that are too short to show"
    end = max(span.end for span in group)
    yield replace(longest, start=group[0].start, end=end, words=words)


def _draw_axis(drawing: Drawing, scale: _Scale) -> None:
    timeline = scale.timeline
    if scale.form.margin:
        drawing.labels.append(Label(0, 11, "time since the start", "axis"))
    step = _tick_step((timeline.end - timeline.start) / drawing.format.ticks)
    first = ceil((timeline.start - timeline.lost_from) / step)
    last = floor((timeline.end - timeline.lost_from) / step)
    for number in range(first, last + 1):
        x = scale.x(timeline.lost_from + number * step)
        drawing.lines.insert(0, Line(x, _AXIS - 8, drawing.height, "tick"))
        text = format_duration(number * step) if number else "0"
        if scale.form.margin - 30 <= x <= scale.form.width - 18:
            anchor = "middle" if x - len(text) * _CHARACTER / 2 > scale.form.margin else "start"
            drawing.labels.append(Label(x, 11, text, "axis", anchor))


def _tick_step(at_least: float) -> int:
    """The smallest of 1, 2, 5, 10, 20, … ns that is not below."""
    power = 10 ** floor(log10(max(at_least, 1)))
    return next(int(step * power) for step in _TICK_STEPS if step * power >= at_least)


def _short(text: str, room: int) -> str:
    """The text, cut to so many characters."""
    return text if len(text) <= room else f"{text[: max(room - 1, 0)]}…" if room > 1 else ""
