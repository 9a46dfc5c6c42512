# SPDX-License-Identifier: Apache-2.0
"""Draws a Chart as inline SVG. Colours are classes of style.css, so that dark mode and print change them. Each drawing
is 400 units wide: at 360 px it shrinks by a fifth only, and its letters stay readable."""

from __future__ import annotations

import math
from typing import Any

from .charts import Chart, Mark, Series
from .markup import Markup, element, join
from .units import human, linear_ticks, log_ticks, short

WIDTH = 400
RIGHT = 16
DASHES = (None, "7 3", "2 3", "9 3 2 3", "4 2", "1 2")
LETTER = 7.3  # a letter of 12 units, in the widest of the fonts that style.css names


class Scale:
    """Maps values to coordinates between `start` and `end`."""

    def __init__(self, ticks: list[float], start: float, end: float, log: bool) -> None:
        self.ticks, self._start, self._log = ticks, start, log
        self._low = self._of(ticks[0])
        self._factor = (end - start) / (self._of(ticks[-1]) - self._low)

    def _of(self, value: float) -> float:
        return math.log10(value) if self._log else value

    def __call__(self, value: float) -> float:
        return self._start + (self._of(value) - self._low) * self._factor


def scale_for(values: list[float], start: float, end: float, log: bool, low: float = 0.0) -> Scale:
    """Returns a scale that holds all values; a linear one begins at `low` or below."""
    ticks = log_ticks(min(values), max(values)) if log else linear_ticks(low, max(values))
    return Scale(ticks, start, end, log)


def text(x: float, y: float, words: str, anchor: str = "start", class_: str | None = None) -> Markup:
    return element("text", words, x=x, y=y, text_anchor=anchor, class_=class_)


def shape(kind: int, x: float, y: float, size: float = 4.5, **attributes: Any) -> Markup:
    """Returns a mark: circle, square, triangle, diamond, inverted triangle or bar."""
    title = attributes.pop("title", None)
    inside = (element("title", title),) if title else ()
    if kind % 6 == 0:
        return element("circle", *inside, cx=x, cy=y, r=size, **attributes)
    s = size
    corners = {
        1: [(-s, -s), (s, -s), (s, s), (-s, s)],
        2: [(0, -s * 1.2), (s * 1.15, s * 0.9), (-s * 1.15, s * 0.9)],
        3: [(0, -s * 1.35), (s * 1.35, 0), (0, s * 1.35), (-s * 1.35, 0)],
        4: [(0, s * 1.2), (s * 1.15, -s * 0.9), (-s * 1.15, -s * 0.9)],
        5: [(-s * 0.5, -s * 1.3), (s * 0.5, -s * 1.3), (s * 0.5, s * 1.3), (-s * 0.5, s * 1.3)],
    }[kind % 6]
    path = "M" + "L".join(f"{x + dx:.1f} {y + dy:.1f}" for dx, dy in corners) + "Z"
    return element("path", *inside, d=path, **attributes)


def fitted(words: str, room: float) -> str:
    """Returns `words`, cut where they would run into the drawing; the table has them in full."""
    max_letters = int(room / LETTER)
    return words if len(words) <= max_letters else words[: max_letters - 1] + "…"


def colours(chart: Chart, series: Series) -> str:
    return f"{chart.palette}{series.colour}" + (" hollow" if series.hollow else "")


def data(mark: Mark) -> dict[str, Any]:
    """Returns attributes with the exact values of a mark, for programs that read the drawing."""
    key = mark.key if isinstance(mark.key, str) else repr(mark.key)
    return {"data_series": mark.series, "data_key": key, "data_value": repr(mark.value)}


def note(chart: Chart, mark: Mark) -> str:
    key = mark.key if isinstance(mark.key, str) else f"{human(mark.key)} {chart.key_axis.unit}".strip()
    return f"{mark.series}, {key}: {human(mark.value)} {chart.value_axis.unit}".strip()


def value_axis_below(chart: Chart, scale: Scale, top: float, bottom: float) -> list[Markup]:
    """Draws grid lines and labels of a horizontal axis, for bars and dots."""
    parts = []
    room = 0.0
    for tick in scale.ticks:
        x = scale(tick)
        parts.append(element("line", x1=x, x2=x, y1=top, y2=bottom, class_="grid"))
        if x >= room:
            anchor = "end" if x > WIDTH - RIGHT - 6 else "middle"
            parts.append(text(x + (4 if anchor == "end" else 0), bottom + 15, short(tick), anchor))
            room = x + LETTER * (len(short(tick)) + 3)
    middle = (scale(scale.ticks[0]) + WIDTH - RIGHT) / 2
    parts.append(text(middle, bottom + 33, chart.value_axis.title, "middle", "axis"))
    return parts


def reference_line(chart: Chart, scale: Scale, top: float, bottom: float) -> list[Markup]:
    if chart.reference is None:
        return []
    x = scale(chart.reference[0])
    return [element("line", x1=x, x2=x, y1=top, y2=bottom, class_="reference")]


def draw_lines(chart: Chart) -> tuple[list[Markup], float]:
    left, top, bottom = 50.0, 24.0, 250.0
    across = scale_for([float(key) for key in chart.keys], left, WIDTH - RIGHT, chart.key_axis.log)
    up = scale_for([mark.value for mark in chart.marks], bottom, top, chart.value_axis.log)
    parts = [text(2, 12, chart.value_axis.title, class_="axis")]
    for tick in up.ticks:
        parts.append(element("line", x1=left, x2=float(WIDTH - RIGHT), y1=up(tick), y2=up(tick), class_="grid"))
        parts.append(text(left - 6, up(tick) + 4, short(tick), "end"))
    for tick in across.ticks:
        parts.append(element("line", x1=across(tick), x2=across(tick), y1=top, y2=bottom, class_="grid"))
        parts.append(text(across(tick), bottom + 16, short(tick), "middle"))
    parts.append(text((left + WIDTH - RIGHT) / 2, bottom + 36, chart.key_axis.title, "middle", "axis"))
    for series in chart.series:
        marks = chart.of(series)
        places = [(across(float(mark.key)), up(mark.value)) for mark in marks]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        if len(places) > 1:
            parts.append(element("polyline", points=line, class_=f"line {chart.palette}{series.colour}",
                                 stroke_dasharray=DASHES[series.shape % len(DASHES)]))
        for mark, (x, y) in zip(marks, places):
            parts.append(shape(series.shape, x, y, 4.0, class_=f"mark {colours(chart, series)}",
                               title=note(chart, mark), **data(mark)))
    return parts, bottom + 44


def draw_bars(chart: Chart) -> tuple[list[Markup], float]:
    """Draws rows of a line of words with the bar below it: long names of machines fit a narrow window."""
    row, left, top = 42, 4.0, 22.0
    keys = chart.keys
    totals = {key: sum(mark.value for mark in chart.marks if mark.key == key) for key in keys}
    bottom = top + row * len(keys)
    scale = scale_for(list(totals.values()), left, WIDTH - RIGHT, False)
    parts = [text(left, 13, chart.key_axis.title, class_="axis"), *value_axis_below(chart, scale, top, bottom)]
    for index, key in enumerate(keys):
        y, done = top + row * index, 0.0
        parts.append(text(left, y + 12, str(key), class_="row"))
        parts.append(text(WIDTH - RIGHT, y + 12, f"{human(totals[key])} {chart.value_axis.unit}", "end"))
        for series in chart.series:
            for mark in (mark for mark in chart.of(series) if mark.key == key):
                x, end = scale(done), scale(done + mark.value)
                done += mark.value
                parts.append(element("rect", element("title", note(chart, mark)), x=x, y=y + 17, height=19,
                                     width=max(end - x, 0.0), class_=f"area {colours(chart, series)}", **data(mark)))
    return parts, bottom + 40


def draw_dots(chart: Chart) -> tuple[list[Markup], float]:
    keys = chart.keys
    lanes = sorted({series.shape for series in chart.series})
    row, top = max(20, 7 * len(lanes) + 2), 22.0
    left = min(max(len(str(key)) for key in keys) * LETTER + 8, WIDTH * 0.5)
    bottom = top + row * len(keys)
    values = [mark.value for mark in chart.marks] + ([chart.reference[0]] if chart.reference else [])
    scale = scale_for(values, left + 6, WIDTH - RIGHT, chart.value_axis.log, min(values))
    parts = value_axis_below(chart, scale, top, bottom)
    parts.append(text(2, 14, chart.key_axis.title, class_="axis"))
    for index, key in enumerate(keys):
        y = top + row * index
        if index % 2 == 0:
            parts.insert(0, element("rect", x=0, y=y, width=WIDTH, height=row, class_="band"))
        parts.append(text(2, y + row / 2 + 4, fitted(str(key), left), class_="row"))
    parts += reference_line(chart, scale, top, bottom)
    for series in chart.series:
        for mark in chart.of(series):
            lane = lanes.index(series.shape) - (len(lanes) - 1) / 2
            y = top + row * keys.index(mark.key) + row / 2 + lane * 6
            parts.append(shape(series.shape, scale(mark.value), y, 4.0, class_=f"mark {colours(chart, series)}",
                               title=note(chart, mark), **data(mark)))
    return parts, bottom + 40


DRAW = {"lines": draw_lines, "bars": draw_bars, "dots": draw_dots}


def draw(chart: Chart) -> Markup:
    """Returns the drawing; a screen reader reads its title and description instead."""
    parts, height = DRAW[chart.kind](chart)
    names = f"{chart.id}-title {chart.id}-desc"
    return element("svg", element("title", chart.title, id=f"{chart.id}-title"),
                   element("desc", chart.summary, id=f"{chart.id}-desc"), join(parts),
                   viewBox=f"0 0 {WIDTH} {height:.0f}", role="img", aria_labelledby=names, data_chart=chart.id)


def swatch(chart: Chart, series: Series) -> Markup:
    """Returns the sign of a series in the legend."""
    if chart.kind == "bars":
        inside = element("rect", x=2, y=2, width=16, height=10, class_=f"area {colours(chart, series)}")
    else:
        line = element("line", x1=0, x2=26, y1=7, y2=7, class_=f"line {chart.palette}{series.colour}",
                       stroke_dasharray=DASHES[series.shape % len(DASHES)])
        inside = join([line if chart.kind == "lines" and len(chart.of(series)) > 1 else "",
                       shape(series.shape, 13.0, 7.0, 4.0, class_=f"mark {colours(chart, series)}")])
    width = 20 if chart.kind == "bars" else 26
    return element("svg", inside, viewBox=f"0 0 {width} 14", width=width, height=14, aria_hidden="true",
                   class_="swatch")
