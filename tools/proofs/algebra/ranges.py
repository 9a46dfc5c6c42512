# SPDX-License-Identifier: Apache-2.0
"""Finds, for terms over bit vectors, the integers that they stand for: their range, and what they are mod q.

A fact about a term t of w bits is: the bits of t are those of an integer v in [low, high], where high - low < 2^w, and
v is congruent to a polynomial of the inputs mod q. Facts come from two kinds of step:

- Rules. Sums, differences, products, extensions and truncations of integers, as long as the range fits the width, or q
  divides 2^width.
- Tables. A term that depends on one other term alone, about which there is a fact, is computed for every value in its
  range. If all results are k x + d mod q for some k and d, that is a fact, whose range is from the smallest to the
  largest result. Montgomery's and Barrett's reductions, and selections by masks, are found so, however they are
  computed.

- Tables of bits. A term that depends on a few variables of one bit is computed for all of their values. It is a fact if
  the results are a constant plus multiples of the bits mod q, as noise is that is looked up by its bits.

They hold for every input: rules by arithmetic of integers, tables because they are complete.
"""

from __future__ import annotations

import subprocess
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proofs.algebra.programs import compiled
from proofs.algebra.terms import Term, add, const, shape, signed, sub

Monomial = tuple[int, ...]  # numbers of the variables, in order; () is 1
Form = dict[Monomial, int]

Terms = tuple[tuple[int, int], ...]  # (term's number, factor)
Sum = tuple[Terms, int]  # and a constant

SMALL_TABLE = 1 << 17
LARGEST_TABLE = 1 << 33
MOST_BITS = 8  # of a table of bits
MOST_SUMMANDS = MOST_LOOKED_AT = 8
QUOTIENT_DEPTH = 20  # of the terms in which a quotient is looked for
LARGEST_INTEGER = 1 << 62  # of tables, which have 64 bits for sums and differences of such ones


class NotProved(Exception):
    """No fact was found for a term."""


@dataclass(frozen=True)
class Fact:
    """low <= v <= high, and v is congruent to the form; None where nothing is known but the range."""

    low: int
    high: int
    form: Form | None


class Facts:
    """What is known about terms mod q."""

    def __init__(self, q: int) -> None:
        self.q = q
        self.of: dict[Term, Fact] = {}
        self.variables: list[Term] = []
        self.tables: dict[str, tuple[int, int, int, int] | None] = {}
        self.large_tables: dict[str, LargeTable | None] = {}
        self.same_as: dict[Term, tuple[Term, int]] = {}  # another term, and what is added to its integer
        self._sums: dict[Term, Sum] = {}
        self._by_sum: dict[Terms, Term] = {}
        self._sources: dict[Term, tuple[Term, ...] | None] = {}  # None: a constant
        self._failed: set[Term] = set()
        self._regrouping: set[Term] = set()
        self._bits: dict[Term, frozenset[Term] | None] = {}  # of which alone a term is made; None: of others, or many
        self._tables_of_bits: dict[object, tuple[int, int, list[int]] | None] = {}
        self._tabled: set[Term] = set()  # found by a table or a division: their integers are not those of a rule
        self._wrapped: set[Term] = set()

    def assume(self, variable: Term, low: int, high: int) -> None:
        """Takes for granted that a new variable is in [low, high]."""
        if variable in self.of or high - low >= 1 << variable.width:
            raise ValueError(f"{variable} is new and in [{low}, {high}]?")
        self.of[variable] = Fact(low, high, {(len(self.variables),): 1 % self.q})
        self.variables.append(variable)
        self._sources[variable] = (variable,)
        self._bits[variable] = self._bits_of(variable) if variable.op == "variable" else None
        self._note_sum(variable, ((variable.number, 1),), 0)

    def assume_sum(self, a: Term, b: Term, low: int, high: int) -> None:
        """Takes for granted that the sum of two variables is in [low, high], though it could be outside."""
        form = self.combine(self.of[a].form, self.of[b].form, 1)
        for term in (add(a, b), add(b, a)):
            if term in self._sources or high - low >= 1 << term.width:
                raise ValueError(f"{term} is new and in [{low}, {high}]?")
            self.of[term] = Fact(low, high, form)
            self._sources[term] = (self._represent(term),)
            self._bits[term] = None

    def fact(self, term: Term) -> Fact:
        """Returns what is known about a term. Raises NotProved where no step leads to it."""
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
        self._bits[term] = self._bits_of(term)
        if term.value is not None:
            self.of[term] = Fact(term.value, term.value, {(): term.value % self.q} if term.value % self.q else {})
            self._sums[term] = ((), signed(term.value, term.width))
            return None
        if term.op in ("variable", "alike"):
            raise NotProved(f"nothing is assumed about {term}")
        known = [sources for arg in term.args if (sources := self._sources[arg]) is not None]
        common = tuple(source for source in known[0] if all(source in other for other in known[1:]))
        if common:
            if term.op in ("add", "sub") and self.of[common[-1]].high >= SMALL_TABLE:
                fact = self._by_quotient(term)
                if fact is not None:
                    self.of[term] = fact
                    self._tabled.add(term)
                    common += (self._represent(term),)
            return common[-6:]
        if self._bits[term]:
            return ()  # _force() looks for a fact if one is needed
        fact = self._by_quotient(term)
        if fact is not None:
            self._tabled.add(term)
        else:
            for arg in term.args:
                self._force(arg)
            fact = self._by_rule(term) or self._regrouped(term)
        if fact is None:
            return ()
        self.of[term] = fact
        return (self._represent(term),)

    def _force(self, term: Term) -> Fact | None:
        """Returns the fact about a term; looks for one where there is none yet."""
        fact = self.of.get(term)
        if fact is not None or term in self._failed:
            return fact
        if len(self._bits.get(term) or ()) > 1:
            fact = self._by_bits(term)
            if fact is not None:
                self._tabled.add(term)
        if fact is None and all(arg in self.of for arg in term.args):
            fact = self._by_rule(term)
        if fact is None:
            fact = self._by_division(term) or self._by_quotient(term) or self._by_table(term)
            if fact is not None:
                self._tabled.add(term)
        if fact is None:
            for arg in term.args:
                self._force(arg)
            fact = self._by_rule(term) or self._regrouped(term)
        if fact is None:
            self._failed.add(term)
            return None
        self.of[term] = fact
        self._sources[term] = (*(self._sources[term] or ()), self._represent(term))
        return fact

    def _regrouped(self, term: Term) -> Fact | None:
        """Returns the fact about a sum of three words with another order of additions, in which two that depend on the
        same word come first: compilers order sums as they like, mod 2^width."""
        if term.op not in ("add", "sub") or term in self._regrouping:
            return None
        self._regrouping.add(term)
        first, second = ((1, term.args[0]), (1 if term.op == "add" else -1, term.args[1]))
        for (sign, part), (other_sign, other) in ((first, second), (second, first)):
            if part.op not in ("add", "sub"):
                continue
            x, y = (sign, part.args[0]), (sign if part.op == "add" else -sign, part.args[1])
            for kept, moved in ((x, y), (y, x)):
                if not set(self._sources[moved[1]] or ()) & set(self._sources[other] or ()):
                    continue
                pair = _signed_sum(moved, (other_sign, other))
                self._visit(pair)
                known, tabled = self._force(kept[1]), self._by_table(pair)
                if known is None or tabled is None:
                    continue
                ends = sorted((kept[0] * known.low, kept[0] * known.high))
                fact = Fact(tabled.low + ends[0], tabled.high + ends[1],
                            self.combine(tabled.form, known.form, kept[0]))
                if fact.high - fact.low < 1 << term.width:
                    self._tabled.add(term)
                    return fact
        return None

    # Integers that are equal but for a constant

    def _represent(self, term: Term) -> Term:
        """Returns a term whose integer differs from the given one's by a constant: itself, if there was none yet."""
        if term not in self._sums:
            parts = [self._sums.get(arg) for arg in term.args]
            total = self._sum_of(term, parts)  # type: ignore[arg-type]
            self._note_sum(term, *(total or (((term.number, 1),), 0)))
        return self.same_as[term][0] if term in self.same_as else term

    def _note_sum(self, term: Term, parts: Terms, constant: int) -> None:
        self._sums[term] = (parts, constant)
        other = self._by_sum.setdefault(parts, term)
        if other is not term:
            self.same_as[term] = (other, constant - self._sums[other][1])

    def _sum_of(self, term: Term, known: list[Sum | None]) -> Sum | None:
        """Returns the integer of a term for which a rule holds, as a sum of other integers."""
        if term in self._tabled or term in self._wrapped or any(part is None for part in known):
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
                shift, total = 0, ((), 0)
                for arg, part in reversed(list(zip(term.args, parts))):
                    total = _plus(total, part if arg.value is None else ((), arg.value), 1 << shift)
                    shift += arg.width
                return total
        return None

    # Rules

    def _by_rule(self, term: Term, facts: Sequence[Fact | None] | None = None) -> Fact | None:
        """Returns the fact that follows from those about the operands, or from the given ones."""
        if facts is None:
            facts = [self.of.get(arg) for arg in term.args]
        if term.op in ("add", "sub", "mul"):  # a large constant is meant as a negative number there
            facts = [self._constant(arg) if arg.value is not None else fact for arg, fact in zip(term.args, facts)]
        if any(fact is None for fact in facts):
            return None
        known: list[Fact] = list(facts)  # type: ignore[arg-type]
        fact = None
        if term.op in ("add", "sub"):
            a, b = known
            sign = 1 if term.op == "add" else -1
            ends = (a.low + b.low, a.high + b.high) if sign == 1 else (a.low - b.high, a.high - b.low)
            fact = Fact(*ends, self.combine(a.form, b.form, sign))
        elif term.op == "mul":
            fact = self._product(*known)
        elif term.op == "sext":
            half = 1 << (term.args[0].width - 1)
            fact = self._extended(term, term.args[0], known[0], -half, half - 1)
        elif term.op == "extract":
            fact = known[0] if term.extra[1] == 0 else None  # type: ignore[index]
        elif term.op == "concat":
            fact = self._of_parts(term, known)
        if fact is None or fact.high - fact.low < 1 << term.width:
            return fact
        if fact.form is not None and (1 << term.width) % self.q == 0:  # q is a power of two: what is lost is 0 mod q
            self._wrapped.add(term)
            return Fact(0, (1 << term.width) - 1, fact.form)
        return None

    def _constant(self, term: Term) -> Fact:
        value = signed(term.value, term.width)  # type: ignore[arg-type]
        return Fact(value, value, {(): value % self.q} if value % self.q else {})

    def _product(self, a: Fact, b: Fact) -> Fact:
        products = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
        return Fact(min(products), max(products), self.multiply(a.form, b.form))

    def _extended(self, term: Term, part: Term, fact: Fact, low: int, high: int) -> Fact | None:
        """Returns the fact about a word that is extended, whose integer is then in [low, high]."""
        if low <= fact.low and fact.high <= high:
            return fact
        if fact.form is not None and (1 << part.width) % self.q == 0:
            self._wrapped.add(term)
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
            form = self.combine(form, self.scaled(fact.form, 1 << shift), 1)
            shift += part.width
        return Fact(low, high, form)

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

    def _by_division(self, term: Term) -> Fact | None:
        """The upper bits of an integer whose lower ones are zero, as Montgomery's method leaves them."""
        if term.op != "extract" or term.extra[1] == 0 or term.extra[0] != term.args[0].width - 1:  # type: ignore[index]
            return None
        whole, low = term.args[0], term.extra[1]  # type: ignore[index]
        if self.q % 2 == 0:  # 2^low has no inverse
            return None
        if self._low_bits(whole, low) != ({}, 0):
            return None
        fact = self._without_tables(whole, 8)
        if fact is None or fact.form is None:
            return None
        return Fact(-(-fact.low >> low), fact.high >> low, self.scaled(fact.form, pow(1 << low, -1, self.q)))

    def _without_tables(self, term: Term, depth: int) -> Fact | None:
        """Returns a fact that rules alone find; of an extended word at least its range, if not what it is mod q."""
        if term in self.of or depth == 0:
            return self.of.get(term)
        facts = [self._without_tables(arg, depth - 1) for arg in term.args]
        fact = self._by_rule(term, facts) or self._by_division(term)
        if fact is None and term.op == "sext":
            half = 1 << (term.args[0].width - 1)
            fact = Fact(-half, half - 1, None)
        if fact is None and term.op == "concat" and all(part.value == 0 for part in term.args[:-1]):
            fact = Fact(0, (1 << term.args[-1].width) - 1, None)
        return fact

    def _by_quotient(self, term: Term) -> Fact | None:
        """The rest of x w after a division with a quotient h = floor(x c / 2^k), by Shoup's or Barrett's method: the
        integer r = x w - h m, for constants w, c and m, where q divides m; and the sum of r and other integers. With
        x c = 2^k h + l, 0 <= l < 2^k,

            2^k r = x (2^k w - m c) + m l,

        so r is between x (2^k w - m c) / 2^k and that plus m (2^k - 1) / 2^k. For c = floor(2^k w / m) and x < 2^k, r
        is in [0, 2 m). The term's bits are those of the sum, mod 2^width."""
        whole = term.args[0] if term.op == "extract" and term.extra[1] == 0 else term  # type: ignore[index]
        if whole.op not in ("add", "sub"):
            return None
        summands, rests = _summands(term, self.of), []
        for quotient in _upper_halves(term, self.of):
            rest, others = self._rest(term.width, quotient, summands)
            if rest is not None:
                rests.append(rest)
                summands = others
        facts = [self._known_part(term.width, sign, part) for sign, part in summands]
        if not rests and term is whole or any(fact is None for fact in facts):
            return None
        total = Fact(0, 0, {})
        for fact in (*rests, *facts):
            total = Fact(total.low + fact.low, total.high + fact.high,  # type: ignore[union-attr]
                         self.combine(total.form, fact.form, 1))  # type: ignore[union-attr]
        if total.high - total.low >= 1 << term.width:
            return None
        return self.as_unsigned(total, term.width) or total if total.low >> term.width > 0 else total

    def _rest(self, width: int, quotient: Term,
              summands: list[tuple[int, Term]]) -> tuple[Fact | None, list[tuple[int, Term]]]:
        """Returns the fact about r or -r, whose summands are among the given ones, and the other summands."""
        product, k = quotient.args[0], quotient.extra[1]  # type: ignore[index]
        x, c = _factors(product)
        known = self.of.get(x) if x is not None else None
        fact = self.as_unsigned(known, x.width) if known is not None else None  # type: ignore[union-attr]
        if fact is None or fact.high * c >= 1 << product.width:
            return None, summands
        w, m, alone, others = 0, 0, [], []
        for sign, part in summands:
            parts = _multiples(part, (x, quotient), width, QUOTIENT_DEPTH)  # type: ignore[arg-type]
            if part is x:
                alone.append((sign, part))
            elif parts is None:
                others.append((sign, part))
            else:
                w, m = w + sign * parts[0], m - sign * parts[1]
        ones = (1 << width) - 1
        direction = -1 if m & ones > ones >> 1 else 1
        m = direction * m & ones
        if m == 0 or m % self.q:
            return None, summands
        choices = {direction * (w + added) & ones: rest
                   for added, rest in ((sum(sign for sign, _ in alone), others), (0, others + alone))}
        w = min(choices, key=lambda w: abs((w << k) - m * c))
        slope, others = (w << k) - m * c, choices[w]
        low, high = sorted((fact.low * slope, fact.high * slope))
        ends = sorted((direction * -(-low >> k), direction * (high + m * ((1 << k) - 1) >> k)))
        return Fact(ends[0], ends[1], self.scaled(fact.form, direction * w)), others

    def as_unsigned(self, fact: Fact, width: int) -> Fact | None:
        """Returns the fact about the same bits as an unsigned integer, if that differs by one multiple of 2^width in
        all of the range."""
        wraps = fact.low >> width
        if wraps != fact.high >> width:
            return None
        shift = wraps << width
        constant: Form = {(): shift % self.q} if shift % self.q else {}
        return Fact(fact.low - shift, fact.high - shift, self.combine(fact.form, constant, -1))

    def _known_part(self, width: int, sign: int, term: Term) -> Fact | None:
        fact = self.of.get(term) if term.value is None else self._constant(const(term.value, width))
        if fact is None or sign == 1:
            return fact
        return Fact(-fact.high, -fact.low, self.scaled(fact.form, -1))

    def _low_bits(self, term: Term, width: int, depth: int = 64) -> tuple[dict[int, int], int] | None:
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
                a, b = (self._low_bits(arg, width, depth - 1) for arg in term.args)
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
                return self._low_bits(term.args[0], width, depth - 1)
            case "extract" if term.extra[1] == 0:  # type: ignore[index]
                return self._low_bits(term.args[0], width, depth - 1)
            case "concat" if term.args[-1].width >= width:
                return self._low_bits(term.args[-1], width, depth - 1)
            case "concat" if term.args[-1].value == 0 and len(term.args) == 2:  # shifted to the left
                shift = term.args[-1].width
                part = self._low_bits(term.args[0], width - shift, depth - 1)
                if part is not None:
                    return {key: value << shift for key, value in part[0].items()}, part[1] << shift
        return {term.number: 1}, 0

    # Tables

    def _by_table(self, term: Term) -> Fact | None:
        for source in sorted(self._sources[term] or (), key=lambda s: self.of[s].high - self.of[s].low):
            if source is term:
                continue
            fact = self.of[source]
            if fact.high - fact.low >= LARGEST_TABLE or max(-fact.low, fact.high) >= LARGEST_INTEGER:
                continue
            if any(step.width > 64 for step in self._order(term, source)):
                continue
            found = self._table(term, source, fact)
            if found is not None:
                low, high, factor, constant = found
                form = self.combine(self.scaled(fact.form, factor), {(): constant} if constant else {}, 1)
                return Fact(low, high, form)
        return None

    def _bits_of(self, term: Term) -> frozenset[Term] | None:
        if term.op == "variable":
            return frozenset([term]) if term.width == 1 and self.of[term].low == 0 else None
        parts = [self._bits[arg] for arg in term.args]
        if None in parts:
            return None
        bits = frozenset[Term]().union(*parts)  # type: ignore[arg-type]
        return bits if len(bits) <= MOST_BITS else None

    def _by_bits(self, term: Term) -> Fact | None:
        bits = sorted(self._bits[term] or (), key=lambda bit: bit.number)
        key = shape(term, bits)
        if key not in self._tables_of_bits:
            self._tables_of_bits[key] = self._table_of_bits(term, bits)
        found = self._tables_of_bits[key]
        if found is None:
            return None
        low, high, (constant, *factors) = found
        form: Form | None = {(): constant} if constant else {}
        for bit, factor in zip(bits, factors):
            form = self.combine(form, self.scaled(self.of[bit].form, factor), 1)
        return Fact(low, high, form)

    def _table_of_bits(self, term: Term, bits: list[Term]) -> tuple[int, int, list[int]] | None:
        """Returns (low, high, [d, k, ...]): for all values of the bits, the term is d + k b + ... mod q."""
        number = np.arange(1 << len(bits), dtype=np.int64)
        values = [number >> n & 1 for n in range(len(bits))]
        known = {bit: value.astype(np.uint64) for bit, value in zip(bits, values)}
        for results in meanings(evaluate(term, known), term.width):
            constant = int(results[0]) % self.q
            factors = [(int(results[1 << n]) - constant) % self.q for n in range(len(bits))]
            line = constant + sum(factor * value for factor, value in zip(factors, values))
            if not np.any((results - line) % self.q):
                return int(results.min()), int(results.max()), [constant, *factors]
        return None

    def _table(self, term: Term, source: Term, fact: Fact) -> tuple[int, int, int, int] | None:
        """Returns (low, high, k, d): for every value x of the source, the term is k x + d mod q."""
        if fact.high - fact.low >= SMALL_TABLE:
            if _is_of_one_product(term, source, self.q):
                return None
            return self._from_large_table(term, source, fact) if self.q % 2 else None
        key = f"{fact.low} {fact.high} {term.width} {self._lines(term, source)}"
        if key not in self.tables:
            self.tables[key] = self._small_table(term, source, fact)
        return self.tables[key]

    def _from_large_table(self, term: Term, source: Term, fact: Fact) -> tuple[int, int, int, int] | None:
        """Tables are of a wider range, so that the same one serves sources whose ranges differ a little; but not where
        nearly all values of a word are in its range, and those beyond it might overflow."""
        low, high = fact.low, fact.high + 1
        if high - low <= 1 << (source.width - 1):
            wide = 1 << max(16, (fact.high - fact.low).bit_length() - 5)
            low, high = fact.low // wide * wide, (fact.high // wide + 1) * wide
        lines, constants = self._lines(term, source)
        key = f"{low} {high} {term.width} {lines} {constants}"
        if key not in self.large_tables:
            self.large_tables[key] = _large_table(lines, constants, term.width, low, high, self.q)
        table = self.large_tables[key]
        if table is None:
            return None
        first, last = (fact.low - low) // BLOCK, (fact.high - low) // BLOCK
        ends = [table.ends[first + 1:last]]
        for block in {first, last}:
            start = low + block * BLOCK
            x = np.arange(max(start, fact.low), min(start + BLOCK, fact.high + 1), dtype=np.int64)
            values = self.values(term, source, x).astype(np.int64)
            if not table.unsigned:
                values -= (values >> (term.width - 1)) << term.width if term.width < 64 else 0
            ends.append(np.array([[values.min(), values.max()]]))
        all_ends = np.concatenate(ends)
        return int(all_ends[:, 0].min()), int(all_ends[:, 1].max()), table.factor, table.constant

    def values(self, term: Term, source: Term, x: NDArray[np.int64]) -> NDArray[np.uint64]:
        """Returns the bits of a term where the source's integer is x."""
        known = {source: x.astype(np.uint64) & _ones(source.width)}
        for step in self._order(term, source):
            offset = self._offset(step, source)
            if offset is not None:
                known[step] = (x + offset).astype(np.uint64) & _ones(step.width)
        return evaluate(term, known)

    def _small_table(self, term: Term, source: Term, fact: Fact) -> tuple[int, int, int, int] | None:
        x = np.arange(fact.low, fact.high + 1, dtype=np.int64)
        for values in meanings(self.values(term, source, x), term.width):
            constant, factor = line_through(int(values[0]), int(values[min(1, len(x) - 1)]), fact.low, self.q)
            if not np.any((values % self.q - factor * (x % self.q) - constant) % self.q):
                return int(values.min()), int(values.max()), factor, constant
        return None

    def _offset(self, term: Term, source: Term) -> int | None:
        """Returns what has to be added to the source's integer to get a term's; None where that is not so simple."""
        other, offset = self.same_as.get(term, (None, 0))
        return offset if other is source else None

    def _order(self, term: Term, source: Term) -> list[Term]:
        """Returns what a term is made of down to its source, operands first."""
        done, result, stack = {source}, [], [term]
        while stack:
            top = stack[-1]
            leaf = top in done or self._offset(top, source) is not None
            waiting = [] if leaf else [arg for arg in top.args if arg not in done]
            if waiting:
                stack += waiting
                continue
            stack.pop()
            if top not in done:
                done.add(top)
                result.append(top)
        return result

    def _lines(self, term: Term, source: Term) -> tuple[list[str], list[int]]:
        """Returns a term as statements of C, and the constants c0, c1, ... in them. x is the source's integer, v0 its
        bits; the last variable is the result. Equal lines are equal functions of x."""
        names, lines, constants = {source: "v0"}, [_as_bits("v0", source, 0)], []
        for number, step in enumerate(self._order(term, source), 1):
            name = names[step] = f"v{number}"
            kind, offset = _kind(step), self._offset(step, source)
            if step.value is not None:
                names[step] = f"(({kind})c{len(constants)})"
                constants.append(step.value)
                continue
            if offset is None:
                lines.append(f"{kind} {name} = {_expression(step, [names[arg] for arg in step.args])};")
            else:
                lines.append(_as_bits(name, step, offset))
        return lines, constants


def _upper_halves(term: Term, known: Container[Term]) -> Iterator[Term]:
    """Yields the upper bits of products of which multiples are added or subtracted in a term, the nearest first. Does
    not look into terms that are known."""
    level, seen = [term], {term}
    for _ in range(QUOTIENT_DEPTH):
        args = [arg for top in level if top.op in ("add", "sub", "mul", "concat", "extract") for arg in top.args]
        level = [arg for arg in dict.fromkeys(args) if arg not in seen and arg not in known][:MOST_LOOKED_AT]
        seen.update(level)
        for top in level:
            whole = top.args[0] if top.op == "extract" else top
            if top is not whole and whole.op == "mul" and whole.most >> top.extra[0] + 1 == 0:  # type: ignore[index]
                yield top


def _summands(term: Term, known: Container[Term]) -> list[tuple[int, Term]]:
    """Returns signs and terms whose sum a term is, mod 2^width."""
    result, stack = [], [(1, term)]
    while stack:
        sign, top = stack.pop()
        whole = top.args[0] if top.op == "extract" and top.extra[1] == 0 else top  # type: ignore[index]
        if top.op == "concat" and top.args[-1].width >= term.width:
            stack.append((sign, top.args[-1]))
        elif whole.op in ("add", "sub") and len(stack) < MOST_SUMMANDS and (top is term or top not in known):
            stack += [(sign, whole.args[0]), (sign if whole.op == "add" else -sign, whole.args[1])]
        else:
            result.append((sign, top))
    return result


def _is_of_one_product(term: Term, source: Term, q: int) -> bool:
    """Returns whether a term is the lower or the upper part of a product of a source and a constant, or a
    multiple of it: at best a sum of such ones is a multiple of the source mod q. The upper part of a multiple of q is
    none of these."""
    while term.op in ("mul", "concat", "extract"):
        args = [arg for arg in term.args if arg.value is None]
        if len(args) != 1:
            return False
        if term.op == "extract" and term.extra[1] and args[0].op == "mul" and not (  # type: ignore[index]
                args[0].args[1].value or 1) % q:
            return False
        if term.op == "mul" and (args[0] is source or args[0].op == "concat" and source in args[0].args):
            return True
        term = args[0]
    return False


def _factors(product: Term) -> tuple[Term | None, int]:
    """Returns the word and the constant of a product of a zero-extended word and a constant."""
    word, factor = product.args
    if factor.value is None or word.op != "concat" or len(word.args) != 2 or word.args[0].value != 0:
        return None, 0
    return word.args[1], factor.value


def _multiples(term: Term, atoms: tuple[Term, Term], width: int, depth: int) -> tuple[int, int] | None:
    """Returns of which multiples of two words a term is the sum, mod 2^width; None if it is no such sum. No term that
    is looked at has fewer bits."""
    if term.value == 0:
        return 0, 0
    for n, atom in enumerate(atoms):
        if term is atom or _is_low_part(term, atom):
            return 1 - n, n
    if depth == 0:
        return None
    match term.op:
        case "add" | "sub":
            parts = [_multiples(arg, atoms, width, depth - 1) for arg in term.args]
            if parts[0] is None or parts[1] is None:
                return None
            sign = 1 if term.op == "add" else -1
            return parts[0][0] + sign * parts[1][0], parts[0][1] + sign * parts[1][1]
        case "mul" if term.args[1].value is not None:
            return _times(_multiples(term.args[0], atoms, width, depth - 1), term.args[1].value)
        case "extract" if term.extra[1] == 0:  # type: ignore[index]
            return _multiples(term.args[0], atoms, width, depth - 1)
        case "concat" if term.args[-1].width >= width:
            return _multiples(term.args[-1], atoms, width, depth - 1)
        case "concat":
            shift = term.args[-1].width if term.args[-1].value == 0 else 0
            parts = [part for part in term.args[:-1] if part.value != 0] + ([] if shift else [term.args[-1]])
            if len(parts) != 1 or any(part.value != 0 for part in term.args if part is not parts[0]):
                return None
            return _times(_multiples_of_part(parts[0], atoms, width - shift, depth - 1), 1 << shift)
    return None


def _multiples_of_part(part: Term, atoms: tuple[Term, Term], width: int, depth: int) -> tuple[int, int] | None:
    """Does so for a part that may have fewer bits, above which there are zeros."""
    if part.width >= width:
        return _multiples(part, atoms, width, depth)
    for n, atom in enumerate(atoms):
        if part is atom or _is_low_part(part, atom) and not atom.most >> part.width:
            return 1 - n, n
    whole = part.args[0] if part.op == "extract" and part.extra[1] == 0 else None  # type: ignore[index]
    if whole is None or whole.width < width or whole.most >> part.width:
        return None
    return _multiples(whole, atoms, width, depth)


def _times(parts: tuple[int, int] | None, factor: int) -> tuple[int, int] | None:
    return None if parts is None else (parts[0] * factor, parts[1] * factor)


def _is_low_part(term: Term, whole: Term) -> bool:
    """Returns whether a term is the lowest bits of another, which are both bits of a third."""
    return (term.op == whole.op == "extract" and term.args == whole.args and
            term.extra[1] == whole.extra[1] and term.width <= whole.width)  # type: ignore[index]


def _signed_sum(a: tuple[int, Term], b: tuple[int, Term]) -> Term:
    """Returns the sum of two (sign, term)."""
    if a[0] < b[0]:
        a, b = b, a
    if a[0] == b[0]:
        total = add(a[1], b[1])
        return total if a[0] == 1 else sub(const(0, total.width), total)
    return sub(a[1], b[1])


def _kind(term: Term) -> str:
    return "u64" if term.width > 32 else "u32"


def _as_bits(name: str, term: Term, offset: int) -> str:
    """Returns the statement that makes a variable the bits of a term whose integer is x + offset."""
    kind = _kind(term)
    return f"{kind} {name} = ({kind})(x + {offset}ll) & {(1 << term.width) - 1:#x}ull;"


def _plus(a: Sum, b: Sum, factor: int) -> Sum:
    """Returns a + factor b."""
    parts = dict(a[0])
    for key, value in b[0]:
        parts[key] = parts.get(key, 0) + factor * value
    return tuple(sorted((key, value) for key, value in parts.items() if value)), a[1] + factor * b[1]


def line_through(first: int, second: int, low: int, q: int) -> tuple[int, int]:
    """Returns (constant, factor) of the line mod q through (low, first) and (low + 1, second)."""
    factor = (second - first) % q
    return (first - factor * low) % q, factor


def _ones(width: int) -> np.uint64:
    return np.uint64((1 << width) - 1)


def meanings(bits: NDArray[np.uint64], width: int) -> Iterable[NDArray[np.int64]]:
    """Returns the integers that bits stand for: signed ones and, where they differ, unsigned ones."""
    if width == 64:
        yield bits.astype(np.int64)
        return
    unsigned = bits.astype(np.int64)
    signed = unsigned - ((unsigned >> (width - 1)) << width)
    yield signed
    if signed.min() < 0:
        yield unsigned


def evaluate(term: Term, known: dict[Term, NDArray[np.uint64]]) -> NDArray[np.uint64]:
    """Returns a term for arrays of values of other terms, which determine it. All are below 2^width."""
    done = dict(known)
    stack = [term]
    while stack:
        top = stack[-1]
        if top in done:
            stack.pop()
            continue
        waiting = [arg for arg in top.args if arg not in done]
        if waiting:
            stack += waiting
            continue
        stack.pop()
        done[top] = _compute(top, [done[arg] for arg in top.args])
    return done[term]


def _signed(x: NDArray[np.uint64], width: int) -> NDArray[np.int64]:
    up = np.uint64(64 - width)
    return (x << up).view(np.int64) >> np.int64(64 - width)


def _compute(term: Term, x: list[NDArray[np.uint64]]) -> NDArray[np.uint64]:
    if term.value is not None:
        return np.array([term.value], dtype=np.uint64)
    if term.op == "variable":
        raise NotProved(f"{term} is not known")
    with np.errstate(over="ignore"):
        width = term.args[0].width
        match term.op:
            case "add":
                result = x[0] + x[1]
            case "sub":
                result = x[0] - x[1]
            case "mul":
                result = x[0] * x[1]
            case "and":
                result = x[0] & x[1]
            case "or":
                result = x[0] | x[1]
            case "xor":
                result = x[0] ^ x[1]
            case "extract":
                result = x[0] >> np.uint64(term.extra[1])  # type: ignore[index]
            case "sext":
                result = _signed(x[0], width).view(np.uint64)
            case "concat":
                result = x[0]
                for part, value in zip(term.args[1:], x[1:]):
                    result = result << np.uint64(part.width) | value
            case "eq":
                result = (x[0] == x[1]).astype(np.uint64)
            case "ult":
                result = (x[0] < x[1]).astype(np.uint64)
            case "slt":
                result = (_signed(x[0], width) < _signed(x[1], width)).astype(np.uint64)
            case "ite":
                result = np.where(x[0] != 0, x[1], x[2])
            case _:
                raise ValueError(term.op)
    return result & _ones(term.width)


def _expression(term: Term, x: list[str]) -> str:
    if term.value is not None:
        return f"{term.value:#x}ull"
    kind, width = _kind(term), term.args[0].width
    wide = 64 if width > 32 else 32

    def signed(name: str) -> str:
        return f"((s{wide})({name} << {wide - width}) >> {wide - width})"

    match term.op:
        case "add" | "sub" | "mul" | "and" | "or" | "xor":
            sign = {"add": "+", "sub": "-", "mul": "*", "and": "&", "or": "|", "xor": "^"}[term.op]
            text = f"({kind}){x[0]} {sign} {x[1]}"
        case "extract":
            text = f"{x[0]} >> {term.extra[1]}"  # type: ignore[index]
        case "sext":
            text = f"({kind}){'(s64)' if term.width > 32 else ''}{signed(x[0])}"
        case "concat":
            text = f"({kind}){x[0]}"
            for part, name in zip(term.args[1:], x[1:]):
                text = f"(({text}) << {part.width} | {name})"
        case "eq":
            text = f"{x[0]} == {x[1]}"
        case "ult":
            text = f"{x[0]} < {x[1]}"
        case "slt":
            text = f"{signed(x[0])} < {signed(x[1])}"
        case "ite":
            text = f"{x[0]} ? {x[1]} : {x[2]}"
        case _:
            raise ValueError(term.op)
    return text if term.width in (32, 64) else f"({text}) & {(1 << term.width) - 1:#x}ull"


_PROGRAM = """
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
typedef uint32_t u32; typedef int32_t s32; typedef uint64_t u64; typedef int64_t s64;
#define Q {q}ll
#define INVERSE {inverse}ull  /* of Q mod 2^64 */
static u64 {constants};
static s64 value(s64 x) {{
  {lines}
  return {result};
}}
int main(int count, char** words) {{
  const s64 low = atoll(words[1]), high = atoll(words[2]), block = atoll(words[3]);
  u64* const constants[] = {{{addresses}}};
  for (int i = 4; i < count; ++i) *constants[i - 4] = strtoull(words[i], 0, 10);
  const s64 first = value(low), factor = ((value(low + 1) - first) % Q + Q) % Q;
  s64 line = 0;
  u64 wrong = 0;
  for (s64 at = low; at < high; at += block) {{
    s64 ends[2] = {{INT64_MAX, INT64_MIN}};
    const s64 end = at + block < high ? at + block : high;
    for (s64 x = at; x < end; ++x) {{
      const s64 v = value(x);
      ends[0] = v < ends[0] ? v : ends[0];
      ends[1] = v > ends[1] ? v : ends[1];
      /* The multiples of Q near zero are those whose product with the inverse is small. */
      wrong |= (u64)(v - first - line) * INVERSE + ((u64)1 << 39) >> 40;
      line += factor;
      line -= line >= Q ? Q : 0;
    }}
    fwrite(ends, sizeof ends, 1, stdout);
  }}
  const s64 last[3] = {{wrong == 0, factor, ((first - factor * (low % Q)) % Q + Q) % Q}};
  fwrite(last, sizeof last, 1, stdout);
}}
"""
BLOCK = 1 << 16


@dataclass(frozen=True)
class LargeTable:
    """A table that a program in C has computed: the line, and the smallest and largest result of each block."""

    low: int
    unsigned: bool
    factor: int
    constant: int
    ends: NDArray[np.int64]


def _large_table(lines: list[str], constants: list[int], width: int, low: int, high: int,
                 q: int) -> LargeTable | None:
    """Computes the table of the sources in [low, high)."""
    if q >= 1 << 23:
        return None
    last = lines[-1].split()[1]
    signed_result = f"(s64)((u64){last} << {64 - width}) >> {64 - width}"
    names = [f"c{n}" for n in range(max(1, len(constants)))]
    for result in (signed_result, f"(s64){last}") if width < 64 else (signed_result,):
        text = _PROGRAM.format(q=q, inverse=pow(q, -1, 1 << 64), result=result,
                               lines="\n  ".join(lines), constants=", ".join(names),
                               addresses=", ".join(f"&{name}" for name in names))
        arguments = [str(number) for number in (low, high, BLOCK, *constants)]
        output = subprocess.run([compiled(text), *arguments], check=True, capture_output=True).stdout
        numbers = np.frombuffer(output, dtype=np.int64)
        holds, factor, constant = map(int, numbers[-3:])
        ends = numbers[:-3].reshape(-1, 2)
        # The program computes mod 2^64: differences of results, and multiples of q, have to be far below that.
        if holds and int(ends[:, 1].max()) - int(ends[:, 0].min()) < LARGEST_INTEGER:
            return LargeTable(low, result != signed_result, factor, constant, ends)
    return None
