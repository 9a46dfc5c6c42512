# SPDX-License-Identifier: Apache-2.0
"""Facts about exact divisions by powers of two: the upper bits of an integer whose lower ones are zero, as Montgomery's
method leaves them."""

from __future__ import annotations

from proofs.algebra.facts import Fact
from proofs.algebra.rules import Rules
from proofs.algebra.terms import Term


class Divisions:
    """Facts about quotients, whose dividends are integers that rules alone find."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules

    def fact(self, term: Term) -> Fact | None:
        """Returns the fact about a quotient, if the term is one."""
        if term.op != "extract" or term.extra[1] == 0 or term.extra[0] != term.args[0].width - 1:  # type: ignore[index]
            return None
        modulus, whole, low = self._rules.modulus, term.args[0], term.extra[1]  # type: ignore[index]
        if modulus.q % 2 == 0:  # 2^low has no inverse
            return None
        if _low_bits(whole, low) != ({}, 0):
            return None
        fact = self._without_tables(whole, 8)
        if fact is None or fact.form is None:
            return None
        return Fact(-(-fact.low >> low), fact.high >> low, modulus.scaled(fact.form, pow(1 << low, -1, modulus.q)))

    def _without_tables(self, term: Term, depth: int) -> Fact | None:
        """Returns a fact that rules alone find; of an extended word at least its range, if not what it is mod q."""
        if term in self._rules.of or depth == 0:
            return self._rules.of.get(term)
        facts = [self._without_tables(arg, depth - 1) for arg in term.args]
        fact = self._rules.fact(term, facts) or self.fact(term)
        if fact is None and term.op == "sext":
            half = 1 << (term.args[0].width - 1)
            fact = Fact(-half, half - 1, None)
        if fact is None and term.op == "concat" and all(part.value == 0 for part in term.args[:-1]):
            fact = Fact(0, (1 << term.args[-1].width) - 1, None)
        return fact


def _low_bits(term: Term, width: int, depth: int = 64) -> tuple[dict[int, int], int] | None:
    """Returns the lowest bits as a sum of other terms, at most so deep in the given one, and a constant, mod
    2^width."""
    ones = (1 << width) - 1
    if term.value is not None:
        return {}, term.value & ones
    if term.width < width:
        return None
    if depth == 0:
        return {term.number: 1}, 0
    match term.op:
        case "add" | "sub" | "mul":
            a, b = (_low_bits(arg, width, depth - 1) for arg in term.args)
            if a is None or b is None:
                return None
            if term.op == "mul":
                if a[0] and b[0]:
                    return {term.number: 1}, 0
                (parts, constant), factor = (a, b[1]) if a[0] else (b, a[1])
                a, b, sign = ({}, 0), (parts, constant), factor
            else:
                sign = 1 if term.op == "add" else -1
            total = dict(a[0])
            for key, value in b[0].items():
                total[key] = (total.get(key, 0) + sign * value) & ones
            return {key: value for key, value in total.items() if value}, (a[1] + sign * b[1]) & ones
        case "sext" if term.args[0].width >= width:
            return _low_bits(term.args[0], width, depth - 1)
        case "extract" if term.extra[1] == 0:  # type: ignore[index]
            return _low_bits(term.args[0], width, depth - 1)
        case "concat" if term.args[-1].width >= width:
            return _low_bits(term.args[-1], width, depth - 1)
        case "concat" if term.args[-1].value == 0 and len(term.args) == 2:  # shifted to the left
            shift = term.args[-1].width
            part = _low_bits(term.args[0], width - shift, depth - 1)
            if part is not None:
                return {key: value << shift for key, value in part[0].items()}, part[1] << shift
    return {term.number: 1}, 0
