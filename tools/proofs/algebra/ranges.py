# SPDX-License-Identifier: Apache-2.0
"""Finds, for terms over bit vectors, the integers that they stand for: their range, and what they are mod q.

A fact about a term t of w bits is: the bits of t are those of an integer v in [low, high], where high - low < 2^w, and
v is congruent to a polynomial of the inputs mod q. Facts come from two kinds of step:

- Rules (rules.py, divisions.py, quotients.py): sums, differences, products, extensions and truncations of integers,
  exact divisions and remainders of divisions.
- Tables (tables.py, tables_of_bits.py): a term that depends on one other term alone, or on a few bits, is computed for
  all of their values.

They hold for every input: rules by arithmetic of integers, tables because they are complete.
"""

from __future__ import annotations

from proofs.algebra import methods, tables
from proofs.algebra.divisions import Divisions
from proofs.algebra.facts import Fact, Modulus, NotProved
from proofs.algebra.offsets import Offsets
from proofs.algebra.quotients import Quotients
from proofs.algebra.regrouping import in_other_orders, signed_sum
from proofs.algebra.rules import Rules
from proofs.algebra.tables_of_bits import TablesOfBits
from proofs.algebra.terms import Term, add

MOST_SOURCES = 6  # of a term that are kept, the last ones


class Facts(Modulus):
    """What is known about terms mod q."""

    def __init__(self, q: int) -> None:
        super().__init__(q)
        self.of: dict[Term, Fact] = {}
        self.variables: list[Term] = []
        self.offsets = Offsets()
        modulus = Modulus(q)  # not this object, which would be in a cycle
        self.rules, self.quotients = Rules(modulus, self.of), Quotients(modulus, self.of)
        self.divisions = Divisions(self.rules)
        self.tables = tables.Tables(modulus, self.of, self.offsets)
        self.bits = TablesOfBits(modulus, self.of)
        self._sources: dict[Term, tuple[Term, ...] | None] = {}  # None: a constant
        self._failed: set[Term] = set()
        self._regrouping: set[Term] = set()
        self._tabled: set[Term] = set()  # see _apart()

    def assume(self, variable: Term, low: int, high: int) -> None:
        """Takes for granted that a new variable is in [low, high]."""
        if variable in self.of or not 0 <= high - low < 1 << variable.width:
            raise ValueError(f"{variable} is new and in [{low}, {high}]?")
        self.of[variable] = Fact(low, high, {(len(self.variables),): 1 % self.q})
        self.variables.append(variable)
        self._sources[variable] = (variable,)
        if variable.op == "variable":
            self.bits.note(variable)
        else:
            self.bits.note_none(variable)
        self.offsets.note_new(variable)

    def assume_sum(self, a: Term, b: Term, low: int, high: int) -> None:
        """Takes for granted that the sum of two variables is in [low, high], though it could be outside."""
        form = self.combine(self.of[a].form, self.of[b].form, 1)
        for term in (add(a, b), add(b, a)):
            if term in self._sources or high - low >= 1 << term.width:
                raise ValueError(f"{term} is new and in [{low}, {high}]?")
            self.of[term] = Fact(low, high, form)
            self._sources[term] = (self._represent(term),)
            self.bits.note_none(term)

    def fact(self, term: Term) -> Fact:
        """Returns what is known about a term. Raises NotProved where no step leads to it."""
        methods.used.add("rules")
        self._visit(term)
        fact = self._force(term)
        if fact is None:
            raise NotProved(f"nothing is known about {term}")
        return fact

    def sources(self, term: Term) -> tuple[Term, ...]:
        """Returns terms each of which determines the given one alone."""
        self._visit(term)
        return self._sources[term] or ()

    def _visit(self, root: Term) -> None:
        """Finds the sources of a term and of all that it is made of; makes facts where operands have no common one."""
        stack = [root]
        while stack:
            term = stack[-1]
            if term in self._sources:
                stack.pop()
                continue
            waiting = [arg for arg in term.args if arg not in self._sources]
            if waiting:
                stack += waiting
                continue
            stack.pop()
            self._sources[term] = self._common(term)

    def _common(self, term: Term) -> tuple[Term, ...] | None:
        """Returns the sources that all operands have, or the term, if there is a fact that needs none; None for a
        constant."""
        self.bits.note(term)
        if term.value is not None:
            self.of[term] = self.number(term.value)
            self.offsets.note_constant(term)
            return None
        if term.op in ("variable", "alike"):
            raise NotProved(f"nothing is assumed about {term}")
        known = [sources for arg in term.args if (sources := self._sources[arg]) is not None]
        common = tuple(source for source in known[0] if all(source in other for other in known[1:]))
        if common:
            if term.op in ("add", "sub") and self.of[common[-1]].high >= tables.SMALL_TABLE:
                fact = self._apart(term, self.quotients.fact(term))
                if fact is not None:
                    self.of[term] = fact
                    common += (self._represent(term),)
            return common[-MOST_SOURCES:]
        if self.bits.count(term):
            return ()  # _force() looks for a fact if one is needed
        fact = self._apart(term, self.quotients.fact(term)) or self._by_operands(term)
        if fact is None:
            return ()
        self.of[term] = fact
        return (self._represent(term),)

    def _force(self, term: Term) -> Fact | None:
        """Returns the fact about a term; looks for one where there is none yet."""
        fact = self.of.get(term)
        if fact is not None or term in self._failed:
            return fact
        if self.bits.count(term) > 1:
            fact = self._apart(term, self.bits.fact(term))
        fact = fact or self.rules.fact(term) or self._apart(term, self._by_search(term)) or self._by_operands(term)
        if fact is None:
            self._failed.add(term)
            return None
        self.of[term] = fact
        self._sources[term] = (*(self._sources[term] or ()), self._represent(term))
        return fact

    def _by_search(self, term: Term) -> Fact | None:
        return self.divisions.fact(term) or self.quotients.fact(term) or self._by_table(term)

    def _by_table(self, term: Term) -> Fact | None:
        return self.tables.fact(term, self._sources[term] or ())

    def _by_operands(self, term: Term) -> Fact | None:
        """Returns the fact that follows from those about the operands, which are looked for."""
        for arg in term.args:
            self._force(arg)
        return self.rules.fact(term) or self._apart(term, self._regrouped(term))

    def _regrouped(self, term: Term) -> Fact | None:
        """Returns the fact about a sum of three words with another order of additions, in which two that depend on the
        same word come first."""
        if term in self._regrouping:
            return None
        self._regrouping.add(term)
        for kept, moved, other in in_other_orders(term):
            if not set(self._sources[moved[1]] or ()) & set(self._sources[other[1]] or ()):
                continue
            pair = signed_sum(moved, other)
            self._visit(pair)
            known, tabled = self._force(kept[1]), self._by_table(pair)
            if known is None or tabled is None:
                continue
            ends = sorted((kept[0] * known.low, kept[0] * known.high))
            fact = Fact(tabled.low + ends[0], tabled.high + ends[1], self.combine(tabled.form, known.form, kept[0]))
            if fact.high - fact.low < 1 << term.width:
                return fact
        return None

    def _apart(self, term: Term, fact: Fact | None) -> Fact | None:
        """Notes that a fact, if there is one, is not about the integer that rules make of the operands' integers."""
        if fact is not None:
            self._tabled.add(term)
        return fact

    def _represent(self, term: Term) -> Term:
        by_rule = term not in self._tabled and term not in self.rules.wrapped
        return self.offsets.represent(term, by_rule)
