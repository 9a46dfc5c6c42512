# SPDX-License-Identifier: Apache-2.0
"""Facts about terms that depend on a few variables of one bit: they are computed for all values of those. It is a fact
if the results are a constant plus multiples of the bits mod q, as noise is that is looked up by its bits."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from proofs.algebra.evaluation import evaluate, meanings
from proofs.algebra.facts import Fact, Form, Modulus
from proofs.algebra.terms import Term, shape

MOST_BITS = 8


class TablesOfBits:
    """Facts that tables of bits find, from those about the terms `of` which there are some: the bits."""

    def __init__(self, modulus: Modulus, of: Mapping[Term, Fact]) -> None:
        self._modulus, self._of = modulus, of
        self._bits: dict[Term, frozenset[Term] | None] = {}  # of which alone a term is made; None: of others, or many
        self._tables: dict[object, tuple[int, int, list[int]] | None] = {}

    def note(self, term: Term) -> None:
        """Finds the bits of which a term is made, after its operands."""
        self._bits[term] = self._bits_of(term)

    def note_none(self, term: Term) -> None:
        """Notes that a term is not made of bits alone."""
        self._bits[term] = None

    def count(self, term: Term) -> int:
        """Returns of how many bits alone a term is made; 0 if of others, or many."""
        return len(self._bits.get(term) or ())

    def _bits_of(self, term: Term) -> frozenset[Term] | None:
        if term.op == "variable":
            return frozenset([term]) if term.width == 1 and self._of[term].low == 0 else None
        parts = [self._bits[arg] for arg in term.args]
        if None in parts:
            return None
        bits = frozenset[Term]().union(*parts)  # type: ignore[arg-type]
        return bits if len(bits) <= MOST_BITS else None

    def fact(self, term: Term) -> Fact | None:
        """Returns the fact about a term that is made of several bits, if it is linear in them."""
        bits = sorted(self._bits[term] or (), key=lambda bit: bit.number)
        key = shape(term, bits)
        if key not in self._tables:
            self._tables[key] = self._table(term, bits)
        found = self._tables[key]
        if found is None:
            return None
        low, high, (constant, *factors) = found
        form: Form | None = self._modulus.constant(constant)
        for bit, factor in zip(bits, factors):
            form = self._modulus.combine(form, self._modulus.scaled(self._of[bit].form, factor), 1)
        return Fact(low, high, form)

    def _table(self, term: Term, bits: list[Term]) -> tuple[int, int, list[int]] | None:
        """Returns (low, high, [d, k, ...]): for all values of the bits, the term is d + k b + ... mod q."""
        number = np.arange(1 << len(bits), dtype=np.int64)
        values = [number >> n & 1 for n in range(len(bits))]
        known = {bit: value.astype(np.uint64) for bit, value in zip(bits, values)}
        for results in meanings(evaluate(term, known), term.width):
            constant = int(results[0]) % self._modulus.q
            factors = [(int(results[1 << n]) - constant) % self._modulus.q for n in range(len(bits))]
            line = constant + sum(factor * value for factor, value in zip(factors, values))
            if not np.any((results - line) % self._modulus.q):
                return int(results.min()), int(results.max()), [constant, *factors]
        return None
