# SPDX-License-Identifier: Apache-2.0
"""Charts as data: what is shown, not how. svg.py draws them, page.py writes their tables."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Axis:
    label: str
    unit: str = ""
    log: bool = False

    @property
    def title(self) -> str:
        return f"{self.label}, {self.unit}" if self.unit else self.label


@dataclass(frozen=True)
class Series:
    """A series. `colour` is a number of the palette of style.css, `shape` one of svg.py's marks and dashes."""

    name: str
    colour: int
    shape: int = 0
    hollow: bool = False


@dataclass(frozen=True)
class Mark:
    """One figure. `key` is the row of a bar or dot chart, or the place on the x axis of a line chart."""

    series: str
    key: str | float
    value: float


@dataclass
class Chart:
    """kind: "lines", "bars" (stacked, horizontal) or "dots" (one row a key). `reference`: a value and its name."""

    kind: str
    id: str
    title: str
    summary: str
    key_axis: Axis
    value_axis: Axis
    series: list[Series]
    marks: list[Mark]
    reference: tuple[float, str] | None = None
    palette: str = "c"  # "c": lines and dots; "s": areas that touch each other

    def __post_init__(self) -> None:
        if self.value_axis.log:
            self.marks = [mark for mark in self.marks if mark.value > 0]
        shown = {mark.series for mark in self.marks}
        self.series = [series for series in self.series if series.name in shown]

    @property
    def keys(self) -> list[Any]:
        keys = list(dict.fromkeys(mark.key for mark in self.marks))
        return sorted(keys) if self.kind == "lines" else keys

    def of(self, series: Series) -> list[Mark]:
        marks = [mark for mark in self.marks if mark.series == series.name]
        return sorted(marks, key=lambda mark: mark.key) if self.kind == "lines" else marks


@dataclass
class Figure:
    """Charts that belong together, with a heading and a sentence or two."""

    title: str
    text: str
    charts: list[Chart]


@dataclass
class Table:
    title: str
    head: list[str]
    rows: list[list[Any]]
    open: bool = False  # shown without a click


@dataclass
class Section:
    id: str
    title: str
    text: str
    blocks: list[Any] = field(default_factory=list)  # of Figure and Table
