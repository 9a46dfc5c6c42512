# SPDX-License-Identifier: Apache-2.0
"""The page: one HTML file that loads nothing, runs no script, and says so to the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from . import svg
from .charts import Chart, Figure, Section, Table
from .markup import Markup, element
from .units import human

POLICY = "default-src 'none'; style-src 'unsafe-inline'"


WIDE = 60  # letters; a table with a longer cell becomes a list in a narrow window


def cell(value: Any, label: str = "", header: bool = False) -> Markup:
    if header:
        return element("th", human(value) if isinstance(value, (int, float)) else value, scope="row")
    if isinstance(value, (int, float)):
        return element("td", human(value), class_="number")
    if value is None:
        return element("td", "", class_="number")
    return element("td", value, class_="failed" if value.startswith("FAILED") else None, data_label=label or None)


def table(caption: str, head: list[str], rows: list[list[Any]]) -> Markup:
    """Returns a table that scrolls by itself if it is wider than the window."""
    right = [bool(rows) and all(isinstance(row[i], (int, float, type(None))) for row in rows) for i in range(len(head))]
    heads = [element("th", name, scope="col", class_="number" if right[i] else None) for i, name in enumerate(head)]
    wide = bool(head) and any(isinstance(value, str) and len(value) > WIDE for row in rows for value in row)
    labels = head if wide else [""] * max(map(len, rows), default=0)
    body = [element("tr", cell(row[0], header=True), *map(cell, row[1:], labels[1:])) for row in rows]
    inside = [element("thead", element("tr", *heads))] if head else []
    drawn = element("table", *inside, element("tbody", *body), aria_label=caption, class_="list" if wide else None)
    return element("div", drawn, class_="scroll", tabindex="0", role="region", aria_label=caption)


def chart_table(chart: Chart) -> Markup:
    found = {(mark.key, mark.series): mark.value for mark in chart.marks}
    unit = f", {chart.value_axis.unit}" if chart.value_axis.unit else ""
    rows = [[key, *(found.get((key, series.name)) for series in chart.series)] for key in chart.keys]
    return table(chart.title, [chart.key_axis.title, *(series.name + unit for series in chart.series)], rows)


def legend(chart: Chart) -> Markup:
    entries = [element("li", svg.swatch(chart, series), element("span", series.name)) for series in chart.series]
    if chart.reference:
        line = element("line", x1=0, x2=26, y1=7, y2=7, class_="reference")
        drawing = element("svg", line, viewBox="0 0 26 14", width=26, height=14, aria_hidden="true", class_="swatch")
        entries.append(element("li", drawing, element("span", f"{chart.reference[1]} = {chart.reference[0]:g}")))
    return element("ul", *entries, class_="legend")


def chart_figure(chart: Chart) -> Markup:
    data = element("details", element("summary", "Table of these figures"), chart_table(chart))
    return element("figure", element("figcaption", element("h4", chart.title)), legend(chart), svg.draw(chart), data,
                   id=chart.id)


def block(item: Figure | Table) -> Markup:
    if isinstance(item, Figure):
        text = [element("p", item.text, class_="about")] if item.text else []
        charts = [chart_figure(chart) for chart in item.charts if chart.marks]
        return element("section", element("h3", item.title), *text, element("div", *charts, class_="charts"))
    body = table(item.title, item.head, item.rows)
    if item.open:
        return element("section", element("h3", item.title), body)
    return element("details", element("summary", item.title), body)


def section(item: Section) -> Markup:
    text = [element("p", line.strip()) for line in item.text.split("\n") if line]
    return element("section", element("h2", item.title), *text, *map(block, item.blocks), id=item.id)


def make_ids_unique(sections: list[Section]) -> None:
    seen: dict[str, int] = {}
    for chart in (c for s in sections for b in s.blocks if isinstance(b, Figure) for c in b.charts):
        seen[chart.id] = seen.get(chart.id, 0) + 1
        if seen[chart.id] > 1:
            chart.id += f"-{seen[chart.id]}"


def page(sections: list[Section], title: str, made: str) -> str:
    """Returns the whole file. `made`: a line that says when and how it was made."""
    make_ids_unique(sections)
    style = (Path(__file__).parent / "style.css").read_text(encoding="utf-8")
    links = [element("li", element("a", item.title, href=f"#{item.id}")) for item in sections]
    head = element("head", element("meta", charset="utf-8"),
                   element("meta", http_equiv="Content-Security-Policy", content=POLICY),
                   element("meta", name="viewport", content="width=device-width, initial-scale=1"),
                   element("meta", name="generator", content="polykem report"),
                   element("title", title), element("style", Markup(style)))
    body = element("body", element("header", element("h1", title), element("p", made, class_="about")),
                   element("nav", element("ul", *links), aria_label="Contents"),
                   element("main", *map(section, sections)))
    return "<!DOCTYPE html>\n" + element("html", head, body, lang="en") + "\n"
