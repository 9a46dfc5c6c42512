# SPDX-License-Identifier: Apache-2.0
"""Facts that follow from those about the operands: sums, differences, products, extensions and truncations of integers,
as long as the range fits the width, or q divides 2^width."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from proofs.algebra.facts import Fact, Form, Modulus
from proofs.algebra.terms import Term, signed


class Rules:
    """Rules for the integers of terms `of` which there are facts."""

    def __init__(self, modulus: Modulus, of: Mapping[Term, Fact]) -> None:
        self.modulus, self.of = modulus, of
        self.wrapped: set[Term] = set()  # whose integers are those of the operands mod 2^width only

    def fact(self, term: Term, facts: Sequence[Fact | None] | None = None) -> Fact | None:
        """Returns the fact that follows from those about the operands, or from the given ones."""
        if facts is None:
            facts = [self.of.get(arg) for arg in term.args]
        if term.op in ("add", "sub", "mul"):  # a large constant is meant as a negative number there
            facts = [self._signed(arg.value, arg.width) if arg.value is not None else fact
                     for arg, fact in zip(term.args, facts)]
        if any(fact is None for fact in facts):
            return None
        fact = self._of_operands(term, list(facts))  # type: ignore[arg-type]
        if fact is None or fact.high - fact.low < 1 << term.width:
            return fact
        if fact.form is not None and (1 << term.width) % self.modulus.q == 0:  # what is lost is 0 mod q
            self.wrapped.add(term)
            return Fact(0, (1 << term.width) - 1, fact.form)
        return None

    def _signed(self, value: int, width: int) -> Fact:
        return self.modulus.number(signed(value, width))

    def _of_operands(self, term: Term, known: list[Fact]) -> Fact | None:
        """Returns the fact about an operation's integer, which need not fit the width."""
        match term.op:
            case "add":
                a, b = known
                return Fact(a.low + b.low, a.high + b.high, self.modulus.combine(a.form, b.form, 1))
            case "sub":
                a, b = known
                return Fact(a.low - b.high, a.high - b.low, self.modulus.combine(a.form, b.form, -1))
            case "mul":
                return self._product(*known)
            case "sext":
                half = 1 << (term.args[0].width - 1)
                return self._extended(term, term.args[0], known[0], -half, half - 1)
            case "extract" if term.extra[1] == 0:  # type: ignore[index]
                return known[0]
            case "concat":
                return self._of_parts(term, known)
        return None

    def _product(self, a: Fact, b: Fact) -> Fact:
        products = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
        return Fact(min(products), max(products), self.modulus.multiply(a.form, b.form))

    def _extended(self, term: Term, part: Term, fact: Fact, low: int, high: int) -> Fact | None:
        """Returns the fact about a word that is extended, whose integer is then in [low, high]."""
        if low <= fact.low and fact.high <= high:
            return fact
        if fact.form is not None and (1 << part.width) % self.modulus.q == 0:
            self.wrapped.add(term)
            return Fact(low, high, fact.form)
        return None

    def _of_parts(self, term: Term, known: list[Fact]) -> Fact | None:
        """The highest part is taken as it is; the others have to be in [0, 2^width)."""
        low = high = shift = 0
        form: Form | None = {}
        for n, part, fact in reversed(list(zip(range(len(known)), term.args, known))):
            if n > 0:
                extended = self._extended(term, part, fact, 0, (1 << part.width) - 1)
                if extended is None:
                    return None
                fact = extended
            low, high = low + (fact.low << shift), high + (fact.high << shift)
            form = self.modulus.combine(form, self.modulus.scaled(fact.form, 1 << shift), 1)
            shift += part.width
        return Fact(low, high, form)
