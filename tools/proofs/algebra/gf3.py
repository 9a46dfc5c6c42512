# SPDX-License-Identifier: Apache-2.0
"""Finds which sums of products of inputs bit-sliced elements of GF(3) are. An element is a pair of bits: whether it is
1 or 2, and whether it is 2; the latter may be anything where the element is 0. Sums, differences and products are
recognised by what they are for all 16 values of the four bits of their operands, whichever instructions make them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from operator import xor

from proofs.algebra import methods
from proofs.algebra.facts import NotProved
from proofs.algebra.terms import Term

Form = dict[tuple[int, ...], int]  # the factors of inputs, (n,), and of products of two, (n, m); empty for 0

ROWS = range(16)  # of tables: bits 0 and 1 are of the first operand, 2 and 3 of the second
CUT = [sum(1 << row for row in ROWS if row >> bit & 1) for bit in range(4)]
ALL = (1 << 16) - 1
NEAR = 250  # how far from each other the two bits of an element are, at most, among all terms
DEPTH = 12


def element(bits: int) -> int:
    """Returns the element that two bits stand for."""
    return (1 + (bits >> 1)) % 3 if bits & 1 else 0


def tables(results: Iterable[int]) -> tuple[int, int]:
    """Returns for which rows a result is not zero, and for which it is 2."""
    values = list(results)
    return (sum(1 << row for row in ROWS if values[row]), sum(1 << row for row in ROWS if values[row] == 2))


OPERATIONS = {name: tables(f(element(row & 3), element(row >> 2)) for row in ROWS) for name, f in (
    ("sum", lambda a, b: (a + b) % 3), ("difference", lambda a, b: (a - b) % 3),
    ("reversed", lambda a, b: (b - a) % 3), ("product", lambda a, b: a * b % 3))}


def scaled_sum(a: Form, b: Form, factor: int) -> Form:
    result = dict(a)
    for key, value in b.items():
        result[key] = (result.get(key, 0) + factor * value) % 3
    return {key: value for key, value in result.items() if value}


def product(a: Form, b: Form) -> Form | None:
    """Returns the product of two sums of inputs; None if one has products."""
    if any(len(key) != 1 for key in (*a, *b)):
        return None
    result: Form = {}
    for (n,), x in a.items():
        for (m,), y in b.items():
            key = (n, m) if n < m else (m, n)
            result[key] = (result.get(key, 0) + x * y) % 3
    return {key: value for key, value in result.items() if value}


class Elements:
    """What is known of pairs of terms. Compilers add signs in any order: a sign is known by the terms of its sum."""

    def __init__(self) -> None:
        self._of: dict[Term, dict[frozenset[Term], Form]] = {}  # by the first bit, then by the second
        self._signs: set[frozenset[Term]] = set()
        self._summands: dict[Term, frozenset[Term]] = {}

    def know(self, nonzero: Term, negative: Term, form: Form) -> None:
        self._know(nonzero, self.summands(negative), form)

    def _know(self, nonzero: Term, sign: frozenset[Term], form: Form) -> None:
        self._of.setdefault(nonzero, {})[sign] = form
        self._signs.add(sign)

    def form(self, nonzero: Term, negative: Term) -> Form:
        """Returns what an element is. Raises NotProved if that was not found."""
        methods.used.add("GF(3)")
        if nonzero.value == 0:
            return {}
        found = self._of.get(nonzero, {}).get(self.summands(negative))
        if found is None:
            raise NotProved("an element of GF(3) is not found to be a sum of products")
        return found

    def summands(self, term: Term) -> frozenset[Term]:
        """Returns terms whose sum mod 2 a term is; only constants are such sums too."""
        if term not in self._summands:
            found = frozenset([term])
            if term.op == "xor":
                found = self.summands(term.args[0]) ^ self.summands(term.args[1])
            self._summands[term] = found
        return self._summands[term]

    def learn(self, roots: Iterable[Term]) -> None:
        """Finds the elements of which terms are made, from the deepest on."""
        every = sorted(parts(roots), key=lambda term: term.number)
        for at, term in enumerate(every):
            if term not in self._of and term.op in ("and", "or", "xor"):
                self._learn(term, every[max(at - NEAR, 0):at + NEAR])

    def _learn(self, term: Term, near: list[Term]) -> None:
        operands = sorted(self._operands(term), key=lambda operand: operand.number)
        for n, a in enumerate(operands):
            for b in operands[n + 1:]:
                for a_sign, a_form in list(self._of[a].items()):
                    for b_sign, b_form in list(self._of[b].items()):
                        self._combine(term, near, Cut(self, a, a_sign, b, b_sign), a_form, b_form)

    def _operands(self, term: Term) -> set[Term]:
        """Returns the first bits of elements below a term, through operations bit by bit."""
        found, stack = set(), [(arg, DEPTH) for arg in term.args]
        while stack:
            top, depth = stack.pop()
            if top in self._of:
                found.add(top)
            elif depth and top.op in ("and", "or") or top.op == "xor" and self.summands(top) not in self._signs:
                stack += [(arg, depth - 1) for arg in top.args]
        return found

    def _combine(self, term: Term, near: list[Term], cut: Cut, a: Form, b: Form) -> None:
        mine = cut.table(term)
        if mine is None:
            return
        for name, (nonzero, negative) in OPERATIONS.items():
            form = combined(name, a, b) if mine == nonzero else None
            if form is None:
                continue
            for other in near:
                if other.width != term.width or other.op not in ("and", "or", "xor"):
                    continue
                sign = cut.table(other)
                if sign is None:
                    continue
                if sign & nonzero == negative:
                    self.know(term, other, form)
                for known, bits in zip(cut.signs, CUT[1::2]):  # a sum of signs that is not computed as such
                    if (sign ^ bits) & nonzero == negative:
                        self._know(term, known ^ self.summands(other), form)


def combined(name: str, a: Form, b: Form) -> Form | None:
    if name == "product":
        return product(a, b)
    first, second = (b, a) if name == "reversed" else (a, b)
    return scaled_sum(first, second, 1 if name == "sum" else -1)


class Cut:
    """Two elements, over which tables of terms are computed."""

    def __init__(self, elements: Elements, a: Term, a_sign: frozenset[Term], b: Term, b_sign: frozenset[Term]) -> None:
        self._elements, self.signs = elements, (a_sign, b_sign)
        self._known: dict[Term, int | None] = {a: CUT[0], b: CUT[2]}

    def table(self, root: Term, depth: int = DEPTH) -> int | None:
        """Returns a term's bit for each row; None if the term is not found to be made of the elements bit by bit."""
        if root not in self._known:
            self._known[root] = self._table(root, depth)
        return self._known[root]

    def _table(self, root: Term, depth: int) -> int | None:
        if root.value is not None:
            return {0: 0, (1 << root.width) - 1: ALL}.get(root.value)
        if depth and root.op in ("and", "or"):
            x, y = (self.table(arg, depth - 1) for arg in root.args)
            return None if x is None or y is None else x & y if root.op == "and" else x | y
        every = self._elements.summands(root)
        for chosen in (3, 2, 1, 0) if depth else (3, 2, 1):
            rest, result = every, 0
            for n, sign in enumerate(self.signs):
                if chosen >> n & 1:
                    rest, result = rest ^ sign, result ^ CUT[2 * n + 1]
            if len(rest) < len(every) + (not chosen) and root not in rest:
                tables = [self.table(term, depth - 1) for term in rest] if depth else [None] * len(rest)
                if None not in tables:
                    return reduce(xor, tables, result)  # type: ignore[arg-type]
        return None


def parts(roots: Iterable[Term]) -> set[Term]:
    found: set[Term] = set()
    stack = list(roots)
    while stack:
        term = stack.pop()
        if term not in found:
            found.add(term)
            stack += term.args
    return found
