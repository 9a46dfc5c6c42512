# SPDX-License-Identifier: Apache-2.0
"""Facts about terms that depend on one other term alone, about which there is a fact: they are computed for every value
in its range. If all results are k x + d mod q for some k and d, that is a fact, whose range is from the smallest to the
largest result. Montgomery's and Barrett's reductions, and selections by masks, are found so, however they are
computed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from proofs.algebra.evaluation import bits_of, evaluate, meanings
from proofs.algebra.facts import Fact, Modulus
from proofs.algebra.large_tables import BLOCK, LARGEST_INTEGER, LargeTable, large_table, statements
from proofs.algebra.offsets import Offsets
from proofs.algebra.terms import Term

SMALL_TABLE = 1 << 17
LARGEST_TABLE = 1 << 33

Steps = list[tuple[Term, int | None]]  # see Tables._steps()


class Tables:
    """Facts that tables find, from those about the terms `of` which there are some."""

    def __init__(self, modulus: Modulus, of: Mapping[Term, Fact], offsets: Offsets) -> None:
        self._modulus, self._of, self._offsets = modulus, of, offsets
        self._small: dict[str, tuple[int, int, int, int] | None] = {}
        self._large: dict[str, LargeTable | None] = {}

    def fact(self, term: Term, sources: Iterable[Term]) -> Fact | None:
        """Returns the fact about a term that is linear in one of the sources, each of which determines it alone."""
        for source in sorted(sources, key=lambda s: self._of[s].high - self._of[s].low):
            if source is term:
                continue
            fact = self._of[source]
            if fact.high - fact.low >= LARGEST_TABLE or max(-fact.low, fact.high) >= LARGEST_INTEGER:
                continue
            steps = self._steps(term, source)
            if any(step.width > 64 for step, _ in steps):
                continue
            found = self._table(steps, source, fact)
            if found is not None:
                low, high, factor, constant = found
                form = self._modulus.scaled(fact.form, factor)
                return Fact(low, high, self._modulus.combine(form, self._modulus.constant(constant), 1))
        return None

    def _table(self, steps: Steps, source: Term, fact: Fact) -> tuple[int, int, int, int] | None:
        """Returns (low, high, k, d): for every value x of the source, the last step is k x + d mod q."""
        term = steps[-1][0]
        if fact.high - fact.low >= SMALL_TABLE:
            if _is_of_one_product(term, source, self._modulus.q):
                return None
            return self._from_large_table(steps, source, fact) if self._modulus.q % 2 else None
        key = f"{fact.low} {fact.high} {term.width} {statements(source, steps)}"
        if key not in self._small:
            self._small[key] = self._small_table(steps, source, fact)
        return self._small[key]

    def _from_large_table(self, steps: Steps, source: Term, fact: Fact) -> tuple[int, int, int, int] | None:
        """Tables are of a wider range, so that the same one serves sources whose ranges differ a little; but not where
        nearly all values of a word are in its range, and those beyond it might overflow."""
        low, high = fact.low, fact.high + 1
        if high - low <= 1 << (source.width - 1):
            wide = 1 << max(16, (fact.high - fact.low).bit_length() - 5)
            low, high = fact.low // wide * wide, (fact.high // wide + 1) * wide
        width = steps[-1][0].width
        lines, constants = statements(source, steps)
        key = f"{low} {high} {width} {lines} {constants}"
        if key not in self._large:
            self._large[key] = large_table(lines, constants, width, low, high, self._modulus.q)
        table = self._large[key]
        if table is None:
            return None
        first, last = (fact.low - low) // BLOCK, (fact.high - low) // BLOCK
        ends = [table.ends[first + 1:last]]
        for block in {first, last}:
            start = low + block * BLOCK
            x = np.arange(max(start, fact.low), min(start + BLOCK, fact.high + 1), dtype=np.int64)
            values = _values(steps, source, x).astype(np.int64)
            if not table.unsigned:
                values -= (values >> (width - 1)) << width if width < 64 else 0
            ends.append(np.array([[values.min(), values.max()]]))
        all_ends = np.concatenate(ends)
        return int(all_ends[:, 0].min()), int(all_ends[:, 1].max()), table.factor, table.constant

    def _small_table(self, steps: Steps, source: Term, fact: Fact) -> tuple[int, int, int, int] | None:
        x = np.arange(fact.low, fact.high + 1, dtype=np.int64)
        for values in meanings(_values(steps, source, x), steps[-1][0].width):
            constant, factor = line_through(int(values[0]), int(values[min(1, len(x) - 1)]), fact.low, self._modulus.q)
            if not np.any((values % self._modulus.q - factor * (x % self._modulus.q) - constant) % self._modulus.q):
                return int(values.min()), int(values.max()), factor, constant
        return None

    def _steps(self, term: Term, source: Term) -> Steps:
        """Returns what a term is made of down to its source, operands first, with what is added to the source's integer
        where a step's is such a sum."""
        done, result, stack = {source}, [], [term]
        while stack:
            top = stack[-1]
            offset = self._offsets.of(top, source)
            leaf = top in done or offset is not None
            waiting = [] if leaf else [arg for arg in top.args if arg not in done]
            if waiting:
                stack += waiting
                continue
            stack.pop()
            if top not in done:
                done.add(top)
                result.append((top, offset))
        return result


def _values(steps: Steps, source: Term, x: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Returns the bits of the last step where the source's integer is x."""
    known = {source: bits_of(x, source.width)}
    for step, offset in steps:
        if offset is not None:
            known[step] = bits_of(x + offset, step.width)
    return evaluate(steps[-1][0], known)


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


def line_through(first: int, second: int, low: int, q: int) -> tuple[int, int]:
    """Returns (constant, factor) of the line mod q through (low, first) and (low + 1, second)."""
    factor = (second - first) % q
    return (first - factor * low) % q, factor
