# SPDX-License-Identifier: Apache-2.0
"""Facts about terms, whose bits stand for integers: a range, and a polynomial of the inputs mod q."""

from __future__ import annotations

from dataclasses import dataclass

Monomial = tuple[int, ...]  # numbers of the variables, in order; () is 1
Form = dict[Monomial, int]


class NotProved(Exception):
    """No fact was found for a term, or none that says what is claimed."""


class OtherResult(NotProved):
    """A result is known, and is another than the claimed one."""


class OtherRange(NotProved):
    """The range that was found for a result is not within the claimed one."""


@dataclass(frozen=True)
class Fact:
    """low <= v <= high, and v is congruent to the form; None where nothing is known but the range."""

    low: int
    high: int
    form: Form | None


class Modulus:
    """What forms and facts are mod q."""

    def __init__(self, q: int) -> None:
        self.q = q

    def constant(self, value: int) -> Form:
        """Returns the form of a known integer."""
        return {(): value % self.q} if value % self.q else {}

    def number(self, value: int) -> Fact:
        """Returns the fact about a known integer."""
        return Fact(value, value, self.constant(value))

    def scaled(self, form: Form | None, factor: int) -> Form | None:
        """Returns factor times a form."""
        if form is None:
            return None
        return {key: scaled for key, value in form.items() if (scaled := value * factor % self.q)}

    def combine(self, a: Form | None, b: Form | None, sign: int) -> Form | None:
        """Returns a + sign b."""
        if a is None or b is None:
            return None
        result = dict(a)
        for key, value in b.items():
            total = (result.get(key, 0) + sign * value) % self.q
            if total:
                result[key] = total
            else:
                result.pop(key, None)
        return result

    def multiply(self, a: Form | None, b: Form | None) -> Form | None:
        """Returns a b."""
        if a == {} or b == {}:
            return {}
        if a is None or b is None:
            return None
        result: Form = {}
        for first, x in a.items():
            for second, y in b.items():
                key = tuple(sorted(first + second))
                result[key] = (result.get(key, 0) + x * y) % self.q
        return {key: value for key, value in result.items() if value}

    def as_unsigned(self, fact: Fact, width: int) -> Fact | None:
        """Returns the fact about the same bits as an unsigned integer, if that differs by one multiple of 2^width in
        all of the range."""
        wraps = fact.low >> width
        if wraps != fact.high >> width:
            return None
        shift = wraps << width
        return Fact(fact.low - shift, fact.high - shift, self.combine(fact.form, self.constant(shift), -1))
