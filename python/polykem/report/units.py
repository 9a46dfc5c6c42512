# SPDX-License-Identifier: Apache-2.0
"""Formats numbers for people, and chooses the ticks of axes."""

from __future__ import annotations

import math

_SUFFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def human(value: float) -> str:
    """Formats with four significant digits, and all digits before the point: 503,307; 2.122; 0.0045."""
    if value == 0:
        return "0"
    digits = max(0, 3 - math.floor(math.log10(abs(value))))
    text = f"{value:,.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def short(value: float) -> str:
    """Formats a number for a tick: 1k, 20M, 0.05."""
    for size, suffix in _SUFFIXES:
        if abs(value) >= size:
            return f"{value / size:.3g}{suffix}"
    return f"{value:.3g}"


def linear_ticks(low: float, high: float, about: int = 4) -> list[float]:
    """Returns round numbers that enclose the range."""
    step = (high - low) / about or abs(high) or 1.0
    power = 10.0 ** math.floor(math.log10(step))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= step * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [step * i for i in range(first, max(last, first + 1) + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """Returns powers of ten that enclose the range, with 2 and 5 between them if there are few."""
    first, last = math.floor(math.log10(low) + 1e-9), math.ceil(math.log10(high) - 1e-9)
    last = max(last, first + 1)
    if last - first > 2:
        stride = max(1, math.ceil((last - first) / 7))
        return [10.0**e for e in range(first, last + stride, stride)]
    ticks = [factor * 10.0**e for e in range(first, last) for factor in (1, 2, 5)] + [10.0**last]
    while len(ticks) > 2 and ticks[1] <= low:
        ticks.pop(0)
    while len(ticks) > 2 and ticks[-2] >= high:
        ticks.pop()
    return ticks
