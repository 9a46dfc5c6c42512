# SPDX-License-Identifier: Apache-2.0
"""HTML and SVG elements. Whatever is not Markup is text, and is escaped: names of machines, file names, JSON."""

from __future__ import annotations

import html
import re
from typing import Any

# Controls that HTML forbids, halves of surrogate pairs, and marks that reverse the direction of what follows.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def escape(text: object) -> Markup:
    """Returns `text` as HTML; characters that are not allowed there become U+FFFD."""
    if isinstance(text, Markup):
        return text
    return Markup(html.escape(_UNPRINTABLE.sub("\ufffd", str(text)), quote=True))


def join(parts: Any) -> Markup:
    return Markup("".join(escape(part) for part in parts))


def element(name: str, /, *children: Any, **attributes: Any) -> Markup:
    """Returns <name>children</name>. `class_` is the attribute class, `data_x` data-x; None leaves an attribute out."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_number(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if not children and name in ("meta", "br", "line", "circle", "rect", "path", "polyline"):
        return Markup(f"<{name}{written}>" if name in ("meta", "br") else f"<{name}{written}/>")
    return Markup(f"<{name}{written}>{join(children)}</{name}>")


def _number(value: Any) -> Any:
    """Formats coordinates with one digit after the point; the marks' own values are given as text."""
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else value
