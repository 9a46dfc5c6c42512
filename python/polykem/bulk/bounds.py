# SPDX-License-Identifier: Apache-2.0
"""Checks that a caller's numbers are whole and within bounds, and that its texts are UTF-8."""

from __future__ import annotations

import decimal
import operator
import re
from typing import SupportsIndex

from .errors import USAGE, BulkError

ROWS = 10**13  # of a job: more than any disk holds
PARTITION_MB = 1 << 20  # a terabyte
CPUS = 1024  # of polykem.Context
FORM = re.compile(r"[0-9][0-9_]*(\.[0-9_]*)?(e\+?[0-9]{1,9})?", re.ASCII | re.IGNORECASE)


def whole(text: str, minimum: int, maximum: int) -> int:
    """Parses a whole number; 1e7 and 10_000_000 are allowed. Raises ValueError with a sentence."""
    shown = text if len(text) <= 40 else text[:40] + "..."
    wrong = ValueError(f"'{shown}' is not a whole number from {minimum:,} to {maximum:,}")
    if not FORM.fullmatch(text) or len(text) > 40:
        raise wrong
    value = decimal.Decimal(text)
    if not minimum <= value <= maximum or value != value.to_integral_value():
        raise wrong
    return int(value)


def check(value: object, name: str, minimum: int, maximum: int) -> int:
    """Returns an argument as int. It may be of any integer type, but neither bool nor float."""
    number = operator.index(value) if isinstance(value, SupportsIndex) else None
    if number is None or isinstance(value, bool) or not minimum <= number <= maximum:
        raise BulkError(f"{name} is {value!r:.40}, but must be a whole number from {minimum:,} to {maximum:,}", USAGE)
    return number


def check_utf8(text: str, what: str) -> None:
    """Raises unless the text is UTF-8, since names end up in JSON, in Parquet and on a terminal."""
    try:
        text.encode()
    except UnicodeEncodeError:
        shown = text.encode("utf-8", "backslashreplace").decode()
        raise BulkError(f"{what} '{shown}' is not UTF-8", USAGE,
                        "rename it, or link to it under another name") from None
