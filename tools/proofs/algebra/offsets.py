# SPDX-License-Identifier: Apache-2.0
"""Which terms stand for integers that are equal but for a constant: tables of one serve the others."""

from __future__ import annotations

from proofs.algebra.terms import Term, signed

Terms = tuple[tuple[int, int], ...]  # (term's number, factor)
Sum = tuple[Terms, int]  # and a constant


class Offsets:
    """Integers as sums of multiples of other terms' integers, and a constant."""

    def __init__(self) -> None:
        self.same_as: dict[Term, tuple[Term, int]] = {}  # another term, and what is added to its integer
        self._sums: dict[Term, Sum] = {}
        self._by_sum: dict[Terms, Term] = {}

    def of(self, term: Term, source: Term) -> int | None:
        """Returns what has to be added to the source's integer to get a term's; None where that is not so simple."""
        other, offset = self.same_as.get(term, (None, 0))
        return offset if other is source else None

    def note_constant(self, term: Term) -> None:
        """Notes that a term is its value."""
        self._sums[term] = ((), signed(term.value, term.width))  # type: ignore[arg-type]

    def note_new(self, term: Term) -> None:
        """Notes that a term is an integer of its own."""
        self._note(term, ((term.number, 1),), 0)

    def represent(self, term: Term, by_rule: bool) -> Term:
        """Returns a term whose integer differs from the given one's by a constant: itself, if there was none yet.
        `by_rule`: its integer is what rules make of those of the operands."""
        if term not in self._sums:
            total = self._sum_of(term) if by_rule else None
            self._note(term, *(total or (((term.number, 1),), 0)))
        return self.same_as[term][0] if term in self.same_as else term

    def _note(self, term: Term, parts: Terms, constant: int) -> None:
        self._sums[term] = (parts, constant)
        other = self._by_sum.setdefault(parts, term)
        if other is not term:
            self.same_as[term] = (other, constant - self._sums[other][1])

    def _sum_of(self, term: Term) -> Sum | None:
        """Returns the integer of a term for which a rule holds, as a sum of other integers."""
        known = [self._sums.get(arg) for arg in term.args]
        if any(part is None for part in known):
            return None
        parts: list[Sum] = known  # type: ignore[assignment]
        match term.op:
            case "add":
                return _plus(parts[0], parts[1], 1)
            case "sub":
                return _plus(parts[0], parts[1], -1)
            case "mul":
                constants = [part for part in parts if not part[0]]
                if not constants:
                    return None
                other = parts[0] if parts[1] is constants[0] else parts[1]
                return _plus(((), 0), other, constants[0][1])
            case "sext" | "extract":
                return parts[0]
            case "concat":
                shift = 0
                total: Sum = ((), 0)
                for arg, part in reversed(list(zip(term.args, parts))):
                    total = _plus(total, part if arg.value is None else ((), arg.value), 1 << shift)
                    shift += arg.width
                return total
        return None


def _plus(a: Sum, b: Sum, factor: int) -> Sum:
    """Returns a + factor b."""
    parts = dict(a[0])
    for key, value in b[0]:
        parts[key] = parts.get(key, 0) + factor * value
    return tuple(sorted((key, value) for key, value in parts.items() if value)), a[1] + factor * b[1]
