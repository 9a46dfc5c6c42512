# SPDX-License-Identifier: Apache-2.0
"""Operations on words that instructions of several sets have."""

from __future__ import annotations

from collections.abc import Callable

from proofs.algebra.terms import Term, bitwise, concat, const, extract, shift_left, shift_right, shift_right_signed


def invert(a: Term) -> Term:
    return bitwise("xor", a, const(-1, a.width))


def rotate_right(a: Term, by: int) -> Term:
    by %= a.width
    return concat(extract(a, by - 1, 0), extract(a, a.width - 1, by)) if by else a


# By the names that Arm gives them.
SHIFTS: dict[str, Callable[[Term, int], Term]] = {
    "lsl": shift_left, "lsr": shift_right, "asr": shift_right_signed, "ror": rotate_right}


def replaced(old: Term, at: int, part: Term) -> Term:
    """Returns a word with other bits from bit `at` on."""
    end = at + part.width
    above = (extract(old, old.width - 1, end),) if end < old.width else ()
    below = (extract(old, at - 1, 0),) if at else ()
    return concat(*above, part, *below)


def bytes_reversed(a: Term, bits: int) -> Term:
    """Returns a word with its bytes in the other order, in each part of so many bits."""
    order = [at + 8 * n for at in range(0, a.width, bits) for n in reversed(range(bits // 8))]
    return concat(*(extract(a, at + 7, at) for at in reversed(order)))
