"""SVG renderer of charts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from .axes import Axis, numbers, powers, times
from .formatting import Markup, element, timestamp
from .model import Bar, Bars, Chart, Lane, Mark, Panel, Picture, Series, Style, Timeline

# Width of a chart in SVG units; pages scale charts, but not below 720 pixels.
WIDTH = 1000
_LABELS = 210
# Upper estimate of a letter's average width.
LETTER = 7.2
_ROW, _BAR = 20, 12
# Maximum rows of a lane; marks in further rows are only counted.
_MAX_ROWS = 12
# Minimum width of a mark.
_LEAST = 5


def figure(picture: Picture) -> Markup:
    shapes, height = render(picture)
    svg = element(
        "svg", *shapes, viewBox=f"0 0 {WIDTH} {height}", role="img", aria_label=picture.title, class_="picture"
    )
    legend = _legend(picture) if kinds_of(picture) else ""
    remark = element("p", picture.remark, class_="remark") if picture.remark else ""
    scrolled = element("div", svg, class_="wide", tabindex="0", role="region", aria_label=picture.title)
    return element("figure", element("figcaption", picture.title), legend, scrolled, remark)


def render(picture: Picture) -> tuple[list[Markup], float]:
    return _RENDERERS[type(picture)](picture)


def kinds_of(picture: Picture) -> Mapping[str, Style]:
    return picture.kinds if isinstance(picture, Timeline | Bars) else {}


def sample_of(picture: Picture, style: Style) -> Markup:
    marks = [mark for lane in picture.lanes for mark in lane.marks] if isinstance(picture, Timeline) else []
    if any(mark.start == mark.end for mark in marks):
        return _shape(style, 8, 7, 9)
    return element("rect", x=0, y=2, width=16, height=10, rx=2, class_=f"mark {style}")


def _legend(picture: Picture) -> Markup:
    def key(name: str, style: Style) -> Markup:
        sample = sample_of(picture, style)
        return element("li", element("svg", sample, viewBox="0 0 16 14", width=16, height=14, aria_hidden="true"), name)

    return element("ul", *(key(*each) for each in kinds_of(picture).items()), class_="legend")


def _shape(style: Style, x: float, y: float, size: float, *content: object) -> Markup:
    half = size / 2
    path = {
        "good": f"M{x - half},{y - half}h{size}v{size}h-{size}z",
        "calm": f"M{x},{y - half}l{half},{half}l-{half},{half}l-{half},-{half}z",
        "busy": f"M{x - half},{y}a{half},{half} 0 1 0 {size},0a{half},{half} 0 1 0 -{size},0z",
        "notice": f"M{x - half},{y + half}l{half},-{size}l{half},{size}z",
        "bad": f"M{x - half},{y - half}l{size},{size}M{x - half},{y + half}l{size},-{size}",
    }[style]
    return element("path", *content, d=path, class_=f"mark {style}")


def _text(x: float, y: float, content: str, style: str, anchor: str | None = None) -> Markup:
    return element("text", content, x=round(x, 1), y=round(y, 1), class_=style, text_anchor=anchor)


def _line(x1: float, y1: float, x2: float, y2: float, style: str) -> Markup:
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=style)


def _cut(text: str, width: float) -> str:
    most = max(3, int(width / LETTER))
    if len(text) <= most:
        return text
    end = most // 2
    return f"{text[: most - end - 1]}…{text[-end:]}"


def _named(name: str, y: float) -> Markup:
    label = element("text", _cut(name, _LABELS - 14), x=_LABELS - 10, y=y, class_="name", text_anchor="end")
    return element("g", element("title", name), label)


def _times(axis: Axis, height: float) -> list[Markup]:
    found = []
    for x, label, word in _time_marks(axis, 0, WIDTH, 8):
        found += [_line(x, 0, x, height, "grid"), _text(label, height + 16, word, "tick", "middle")]
    return found


def _time_marks(axis: Axis, left: float, right: float, most: int) -> list[tuple[float, float, str]]:
    marks: list[tuple[float, float, str]] = []
    for count in range(most, 0, -1):
        marks, free = [], left
        for moment, word in times(int(axis.low), int(axis.high), count):
            half = len(word) * _DIGIT / 2
            label = round(min(max(axis.at(moment), left + half), right - half), 1)
            if label - half < free:
                break
            marks.append((axis.at(moment), label, word))
            free = label + half + _DIGIT
        else:
            return marks
    return marks


# Timelines


def _timeline(picture: Timeline) -> tuple[list[Markup], float]:
    moments = [
        each for lane in picture.lanes for mark in lane.marks for each in (mark.start, mark.end) if each is not None
    ]
    if picture.until is not None:
        moments.append(picture.until)
    low, high = (min(moments), max(moments)) if moments else (0, 1)
    axis = Axis(low, max(high, low + 1), _LABELS + 8, WIDTH - 12)
    bands: list[Markup] = []
    shapes: list[Markup] = []
    y = 4.0
    for number, lane in enumerate(picture.lanes):
        placed = _placed(lane, axis)
        rows, others = placed[:_MAX_ROWS], sum(map(len, placed[_MAX_ROWS:]))
        height = _ROW * max(1, len(rows)) + 6
        if number % 2 == 0:
            bands.append(element("rect", x=0, y=y, width=WIDTH, height=height, class_="band"))
        shapes.append(_named(lane.name, y + 17))
        if others:
            shapes.append(_text(_LABELS - 10, y + 33, f"{others:,} more not shown", "tick", "end"))
        for at, row in enumerate(rows):
            shapes += [_mark(picture, mark, axis, y + 3 + at * _ROW + (_ROW - _BAR) / 2) for mark in row]
        y += height
    return [*bands, *(_times(axis, y) if moments else []), *shapes], y + 24


def _reach(mark: Mark, axis: Axis) -> tuple[float, float]:
    start = axis.at(mark.start)
    end = axis.end if mark.end is None else max(axis.at(mark.end), start + _LEAST)
    if mark.end == mark.start:
        start, end = start - _BAR / 2, start + _BAR / 2
    if not mark.text:
        return start, end
    x, anchor = _label_place(mark.text, start, end)
    width = _label_width(mark.text)
    return (min(start, x - width), end) if anchor else (min(start, x), max(end, x + width))


def _label_width(text: str) -> float:
    return min(len(text) * LETTER, WIDTH - _LABELS - 20) + 8


def _label_place(text: str, start: float, end: float) -> tuple[float, str | None]:
    width = _label_width(text)
    if end + width <= WIDTH:
        return end + 5, None
    if start - width >= _LABELS:
        return start - 5, "end"
    return min(start + 5, WIDTH - width), None


def _placed(lane: Lane, axis: Axis) -> list[list[Mark]]:
    rows: list[list[Mark]] = []
    ends: list[float] = []
    for mark in sorted(lane.marks, key=lambda mark: _reach(mark, axis)):
        start, end = _reach(mark, axis)
        at = next((at for at, end_at in enumerate(ends) if end_at + 1 <= start), len(rows))
        if at == len(rows):
            rows.append([])
            ends.append(end)
        rows[at].append(mark)
        ends[at] = end
    return rows


def _mark(picture: Timeline, mark: Mark, axis: Axis, y: float) -> Markup:
    style, note = picture.kinds[mark.kind], element("title", mark.note)
    x = axis.at(mark.start)
    is_moment = mark.end == mark.start
    end = axis.end if mark.end is None else max(axis.at(mark.end), x + _LEAST)
    start, end = (x - _BAR / 2, x + _BAR / 2) if is_moment else (x, end)
    at, anchor = _label_place(mark.text, start, end)
    if is_moment:
        shape = _shape(style, x, y + _BAR / 2, _BAR, note)
    else:
        space = 2 if mark.text and anchor is None and at < end else 0  # above and below a label inside the bar
        size = {"width": round(end - x, 1), "height": _BAR + 2 * space, "rx": 2}
        open_ = " open" if mark.end is None else ""
        shape = element("rect", note, x=x, y=y - space, class_=f"mark {style}{open_}", **size)
    if not mark.text:
        return shape
    label = _text(at, y + 10, _cut(mark.text, _label_width(mark.text)), "beside", anchor)
    return element("g", shape, label)


# Charts


def _chart(picture: Chart) -> tuple[list[Markup], float]:
    moments = [point[0] for row in picture.rows for panel in row for series in panel.series for point in series.points]
    if picture.until is not None:
        moments.append(picture.until)
    low, high = (min(moments), max(moments)) if moments else (0, 1)
    span = low, high + max(1, (high - low) // 25)  # keeps the last value visible
    shapes: list[Markup] = []
    y = 6.0
    scales = [[_scale(panel) for panel in row] for row in picture.rows]
    values = max((len(word) for row in scales for scale in row for _, word in scale.marks), default=0) * _DIGIT + 14
    for row, of_row in zip(picture.rows, scales, strict=True):
        space = WIDTH / len(row)
        for at, (panel, scale) in enumerate(zip(row, of_row, strict=True)):
            shapes += _panel(panel, scale, span, at * space, y, space, max(_VALUES, values))
        y += _PANEL + 58
    return shapes, y


_PANEL, _COLORS = 120, 6
# Minimum width for axis labels, width for names of series, width of a digit.
_VALUES, _ENDS, _DIGIT = 62, 92, 6.8


@dataclass(frozen=True)
class _Scale:
    low: int
    high: int
    marks: Sequence[tuple[int, str]]


def _scale(panel: Panel) -> _Scale:
    values = [value for series in panel.series for _, value in series.points if value is not None]
    low = 0 if panel.from_zero else min(values, default=0)
    high = max(values, default=1)
    if high == low:
        low, high = (low - 1, high + 1) if low else (0, 1)
    marks = numbers(low, high, 4)
    words = [_short(value) for value in marks]
    if len(set(words)) < len(words) or any("e" in word for word in words):  # large offsets that differ by little
        words = [f"{value:,}" for value in marks]
    return _Scale(low, high, list(zip(marks, words, strict=True)))


def _panel(
    panel: Panel, scale: _Scale, span: tuple[int, int], left: float, top: float, width: float, values: float
) -> list[Markup]:
    across = Axis(*span, left + values, left + width - _ENDS)
    up = Axis(scale.low, scale.high, top + 26 + _PANEL, top + 26)
    shapes = [_text(across.start, top + 14, _cut(panel.title, width - values), "name")]
    for value, word in scale.marks:
        y = up.at(value)
        shapes += [
            _line(across.start, y, across.end, y, "grid"),
            _text(across.start - 6, y + 4, word, "tick", "end"),
        ]
    marks = [(across.at(moment), word) for moment, word in panel.marks]
    if not marks:
        marks = [mark[1:] for mark in _time_marks(across, left, left + width, 5 if width < WIDTH else 9)]
    shapes += [_text(x, up.start + 16, word, "tick", "middle") for x, word in marks]
    shapes.append(_line(across.start, up.start, across.end, up.start, "axis"))
    shapes += [_steps(series, across, up) for series in panel.series]
    return shapes + _ends(panel.series, across, up)


def _steps(series: Series, across: Axis, up: Axis) -> Markup:
    path, drawing, last = "", False, ""
    for moment, value in series.points:
        x = across.at(moment)
        path += f"H{x}" if drawing else ""
        if value is not None:
            y, last = up.at(value), f" · {value:,}"
            path += f"V{y}" if drawing else f"M{x},{y}"
        drawing = value is not None
    path += f"H{across.end}" if drawing else ""
    style = f"series color{series.color % _COLORS}{' dashed' if series.dashed else ''}"
    events = [
        _shape("bad", across.at(moment), up.at(value), 11, element("title", f"{timestamp(moment)} · {words}"))
        for moment, value, words in series.events
    ]
    line = element("path", element("title", series.name + last), d=path or "M0,0", class_=style)
    return element("g", line, *events)


def _ends(series: Sequence[Series], across: Axis, up: Axis) -> list[Markup]:
    last = [
        (up.at(values[-1]), each)
        for each in series
        if not each.dashed and (values := [value for _, value in each.points if value is not None])
    ]
    shapes, free = [], up.start + 6.0
    for end, each in sorted(last, key=lambda pair: -pair[0]):
        y = min(end + 4, free)
        free = y - 13
        shapes.append(_text(across.end + 5, y, _cut(each.name, _ENDS), f"end color{each.color % _COLORS}"))
    return shapes


def _short(value: int) -> str:
    for unit, size in (("T", 10**12), ("G", 10**9), ("M", 10**6), ("k", 10**4)):
        if abs(value) >= size:
            size = 1000 if unit == "k" else size
            return f"{value / size:.4g}{unit}"
    return str(value)


# Bars


def _bars(picture: Bars) -> tuple[list[Markup], float]:
    values = [bar.value for bar in picture.bars if bar.value > 0]
    wide = bool(values) and max(values) > 100 * min(values)
    low, high = (min(values) / 2, max(values)) if wide else (0, max(values, default=1))
    words = max((len(_beside(bar)) for bar in picture.bars), default=0) * LETTER + 14
    names = min(max((len(bar.name) for bar in picture.bars), default=0) * LETTER + 16, 430)
    axis = Axis(low, high, names, max(names + 200, WIDTH - words), wide)
    height = 4.0 + _ROW * len(picture.bars)
    marks = powers(low, high) if wide else numbers(0, int(high), 5)
    shapes: list[Markup] = []
    for at, value in enumerate(marks):
        if wide and len(marks) > 6 and at % 2:
            continue
        x = axis.at(value)
        shapes += [_line(x, 0, x, height, "grid"), _text(x, height + 16, _short(value), "tick", "middle")]
    title = f"{picture.values}{', logarithmic' if wide else ''}"
    shapes.append(_text(axis.start, height + 34, title, "tick"))
    origin = axis.start if picture.origin is None else axis.at(picture.origin)
    if picture.origin is not None:
        shapes.append(_line(origin, 0, origin, height, "axis"))
    for number, bar in enumerate(picture.bars):
        y = 4 + number * _ROW
        shapes += _bar(bar, picture.kinds[bar.kind], axis, y, origin)
    return shapes, height + 42


def _bar(bar: Bar, style: Style, axis: Axis, y: float, origin: float) -> list[Markup]:
    end = axis.at(bar.value) if bar.value > 0 else origin
    start, length = min(origin, end), max(abs(end - origin), 2) if bar.value > 0 else 0
    name = element(
        "text", _cut(bar.name, axis.start - 14), x=axis.start - 8, y=y + 11, class_="name", text_anchor="end"
    )
    note = element("title", f"{bar.name} · {_beside(bar)}")
    shape = element("rect", x=start, y=y + 1, width=round(length, 1), height=_BAR, rx=2, class_=f"mark {style}")
    shapes = _split(bar, style, axis, y) if bar.split else [shape]
    return [element("g", note, name, *shapes, _text(start + length + 6, y + 11, _beside(bar), "beside"))]


def _split(bar: Bar, style: Style, axis: Axis, y: float) -> list[Markup]:
    shapes, done = [], 0.0
    for level, value in bar.split:
        start, end = axis.at(done), axis.at(done + value)
        done += value
        size = {"width": round(end - start, 1), "height": _BAR + 2, "fill_opacity": round((level + 1) / 14, 2)}
        shapes.append(element("rect", x=start, y=y, class_=f"mark {style}", **size))
        if end - start > 2 * LETTER:
            shapes.append(_text(round(start + end) / 2, y + 11, str(level), "beside", "middle"))
    return shapes


def _beside(bar: Bar) -> str:
    return f"{bar.word}  {bar.note}" if bar.note else bar.word


_RENDERERS: Mapping[type, Callable[..., tuple[list[Markup], float]]] = {Timeline: _timeline, Chart: _chart, Bars: _bars}
