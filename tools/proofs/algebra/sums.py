# SPDX-License-Identifier: Apache-2.0
"""Finds what terms are mod q where sums of many products are reduced now and then, as in products of polynomials by a
schoolbook's method. ranges.py would note a polynomial for each partial sum; here each sum is taken apart at once."""

from __future__ import annotations

import numpy as np

from proofs.algebra import methods
from proofs.algebra.evaluation import evaluate, meanings
from proofs.algebra.facts import Fact, Form, NotProved
from proofs.algebra.ranges import Facts
from proofs.algebra.tables import line_through
from proofs.algebra.terms import Term, shape, signed

LARGEST_TABLE = 1 << 20


class Sums:
    """Facts about sums of products of inputs, of which `facts` has assumed ranges.

    A term depends on one source, which is an input, or a sum or product of terms that depend on several. A sum of
    integers whose range fits the width has those bits. What depends on one source is computed for each value in its
    range, and has to be k x + d mod q.
    """

    def __init__(self, facts: Facts) -> None:
        self._facts, self._q = facts, facts.q
        self._sources: dict[Term, Term | None] = {}  # None: a constant
        self._known: dict[Term, Fact] = {}
        self._tables: dict[object, tuple[int, int, int, int]] = {}

    def source(self, root: Term) -> Term | None:
        """Returns the one source of a term, which may be the term."""
        stack = [root]
        while stack:
            term = stack[-1]
            waiting = [arg for arg in term.args if arg not in self._sources] if term not in self._facts.of else []
            if waiting:
                stack += waiting
                continue
            stack.pop()
            if term not in self._sources:
                self._sources[term] = self._source_by_args(term)
        return self._sources[root]

    def _source_by_args(self, term: Term) -> Term | None:
        if term in self._facts.of:
            return term
        if term.op in ("variable", "alike"):
            raise NotProved(f"nothing is assumed about {term}")
        sources = {source for arg in term.args if (source := self._sources[arg]) is not None}
        return sources.pop() if len(sources) == 1 else term if sources else None

    def fact(self, term: Term) -> Fact:
        """Returns what is known about a term. Raises NotProved where no step leads to it."""
        methods.used.add("sums")
        if term not in self._known:
            self._known[term] = self._found(term)
        return self._known[term]

    def _found(self, term: Term) -> Fact:
        if term in self._facts.of:
            return self._facts.of[term]
        source = self.source(term)
        if source is None:
            value = signed(term.value, term.width)  # type: ignore[arg-type]
            return Fact(value, value, {(): value % self._q} if value % self._q else {})
        if source is not term:
            return self._function(term, source)
        if term.op == "mul":
            return self._product(term)
        if term.op in ("add", "sub"):
            return self._sum(term)
        raise NotProved(f"{term} is neither a sum nor a product")

    def _fitting(self, term: Term, fact: Fact) -> Fact:
        if fact.high - fact.low >= 1 << term.width:
            raise NotProved(f"a word of {term.width} bits has a sum or product in [{fact.low}, {fact.high}]")
        return fact

    def _product(self, term: Term) -> Fact:
        a, b = map(self.fact, term.args)
        ends = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
        return self._fitting(term, Fact(min(ends), max(ends), self._facts.multiply(a.form, b.form)))

    def _sum(self, root: Term) -> Fact:
        low = high = 0
        form: Form = {}
        stack = [(1, root)]
        while stack:
            sign, term = stack.pop()
            if term.op in ("add", "sub") and self.source(term) is term and term not in self._facts.of:
                stack += [(sign, term.args[0]), (sign if term.op == "add" else -sign, term.args[1])]
                continue
            part = self.fact(term)
            ends = (part.low, part.high) if sign == 1 else (-part.high, -part.low)
            low, high = low + ends[0], high + ends[1]
            for key, value in part.form.items():  # type: ignore[union-attr]
                form[key] = (form.get(key, 0) + sign * value) % self._q
        return self._fitting(root, Fact(low, high, {key: value for key, value in form.items() if value}))

    def _function(self, term: Term, source: Term) -> Fact:
        of = self.fact(source)
        key = (shape(term, [source]), of.low, of.high)
        if key not in self._tables:
            self._tables[key] = self._table(term, source, of)
        low, high, factor, constant = self._tables[key]
        shift: Form = {(): constant} if constant else {}
        return Fact(low, high, self._facts.combine(self._facts.scaled(of.form, factor), shift, 1))

    def _table(self, term: Term, source: Term, of: Fact) -> tuple[int, int, int, int]:
        if of.high - of.low >= LARGEST_TABLE:
            raise NotProved(f"a table of [{of.low}, {of.high}] is too large")
        x = np.arange(of.low, of.high + 1, dtype=np.int64)
        bits = np.uint64((1 << source.width) - 1)
        results = np.broadcast_to(evaluate(term, {source: x.astype(np.uint64) & bits}), x.shape)
        for values in meanings(results, term.width):
            constant, factor = line_through(int(values[0]), int(values[min(1, len(x) - 1)]), of.low, self._q)
            if not np.any((values - factor * x - constant) % self._q):
                return int(values.min()), int(values.max()), factor, constant
        raise NotProved(f"{term} is not linear mod {self._q} in [{of.low}, {of.high}]")
