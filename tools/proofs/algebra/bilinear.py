# SPDX-License-Identifier: Apache-2.0
"""Finds which bilinear form of two vectors of words a term is, mod 2^k, where k depends on the term.

Every step of a product by a schoolbook's, Karatsuba's or Toom's method is one of these: a sum, a difference, a product
by a constant, a product of a form of the one vector and a form of the other, and a division by 2^s of a form all of
whose coefficients are multiples of 2^s. If a word is congruent to such a form mod 2^k, the word shifted to the right by
s is congruent to the divided form mod 2^(k - s), for all inputs.

There are as many coefficients as pairs of words, so a program in C computes them: for one word of the first vector
after the other, its factors of all words of the second vector.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from proofs.algebra import methods
from proofs.algebra.facts import NotProved, OtherResult
from proofs.algebra.programs import compiled
from proofs.algebra.terms import Term

_SOURCE = Path(__file__).with_name("bilinear.c").read_text()

ZERO, FIRST, SECOND, BOTH = range(4)  # kinds of forms: 0, of one vector, of the other, bilinear
NOTHING, WORD, ADD, SUB, SCALE, SHIFT, MUL = range(7)  # operations of the program
BITS = 16  # of a coefficient

Leaf = Callable[[Term], "tuple[int, int] | None"]  # FIRST or SECOND, and the number of a word


class Forms:
    """Terms as steps of the program. `leaf` says which terms are words of the two vectors."""

    def __init__(self, leaf: Leaf) -> None:
        self._leaf = leaf
        self._steps: list[tuple[int, int, int, int, int]] = [(NOTHING, ZERO, 0, 0, 0)]  # operation, kind, x, y, number
        self._of: dict[Term, tuple[int, int]] = {}  # a term's step, and k

    def step(self, root: Term) -> tuple[int, int]:
        """Returns the step that computes a term, and k. Raises NotProved if it is not a form."""
        stack = [root]
        while stack:
            term = stack[-1]
            if term in self._of:
                stack.pop()
                continue
            found = self._of_leaf(term)
            if found is None:
                waiting = [arg for arg in term.args if arg.value is None and arg not in self._of]
                if waiting:
                    stack += waiting
                    continue
                found = self._of_operands(term)
            stack.pop()
            self._of[term] = found
        return self._of[root]

    def _add(self, operation: int, kind: int, x: int, y: int, number: int) -> int:
        self._steps.append((operation, kind, x, y, number))
        return len(self._steps) - 1

    def _of_leaf(self, term: Term) -> tuple[int, int] | None:
        leaf = self._leaf(term)
        if leaf is None:
            return None
        return self._add(WORD, leaf[0], 0, 0, leaf[1]), min(term.width, BITS)

    def _operand(self, term: Term) -> tuple[int, int]:
        if term.value is None:
            return self._of[term]
        if term.value == 0:
            return 0, BITS
        raise NotProved(f"{term} is a constant in a sum")

    def _of_operands(self, term: Term) -> tuple[int, int]:
        match term.op:
            case "add" | "sub":
                (x, first), (y, second) = map(self._operand, term.args)
                return self._sum(ADD if term.op == "add" else SUB, x, y), min(first, second, term.width)
            case "mul":
                return self._product(term)
            case "sext":
                return self._operand(term.args[0])
            case "extract":
                high, low = term.extra  # type: ignore[misc]
                x, bits = self._operand(term.args[0])
                return self._shifted(x, bits, low), min(bits - low, term.width)
            case "concat" if all(part.value == 0 for part in term.args[:-1]):
                return self._operand(term.args[-1])
            case "concat" if term.args[-1].value == 0 and all(part.value == 0 for part in term.args[:-2]):
                x, bits = self._operand(term.args[-2])
                shift = term.args[-1].width
                return self._scaled(x, 1 << shift), min(bits + shift, BITS)
        raise NotProved(f"{term} is not a form")

    def _kind(self, step: int) -> int:
        return self._steps[step][1]

    def _sum(self, operation: int, x: int, y: int) -> int:
        kinds = {self._kind(x), self._kind(y)} - {ZERO}
        if len(kinds) > 1:
            raise NotProved("a sum of forms of different kinds")
        return self._add(operation, *kinds, x, y, 0) if kinds else 0

    def _product(self, term: Term) -> tuple[int, int]:
        a, b = term.args
        if b.value is not None:
            x, bits = self._operand(a)
            return self._scaled(x, b.value), min(bits, term.width)
        (x, first), (y, second) = map(self._operand, term.args)
        if self._kind(x) == SECOND:
            x, y = y, x
        if ZERO in (self._kind(x), self._kind(y)):
            return 0, BITS
        if (self._kind(x), self._kind(y)) != (FIRST, SECOND):
            raise NotProved("a product of two forms of the same words")
        return self._add(MUL, BOTH, x, y, 0), min(first, second, term.width)

    def _scaled(self, x: int, factor: int) -> int:
        return self._add(SCALE, self._kind(x), x, 0, factor % (1 << BITS)) if x else 0

    def _shifted(self, x: int, bits: int, by: int) -> int:
        if by >= bits:
            raise NotProved(f"a form that is known mod 2^{bits} is shifted by {by}")
        return self._add(SHIFT, self._kind(x), x, 0, by) if x and by else x

    def expect(self, results: Sequence[Term], sizes: tuple[int, int], bits: int, words: NDArray[np.int32],
               factors: NDArray[np.uint16]) -> None:
        """Raises NotProved unless every result is the expected form mod 2^bits. For word i of the first vector, result
        n has the factor factors[i, n] of word words[i, n] of the second vector, or no factor if that is -1; its factors
        of other words are zero. `sizes` are those of the vectors."""
        methods.used.add("bilinear forms")
        ends = []
        for n, result in enumerate(results):
            step, known = self.step(result)
            if known < bits:
                raise NotProved(f"result {n} is known mod 2^{known} only")
            if self._kind(step) not in (ZERO, BOTH):
                raise NotProved(f"result {n} is not bilinear")
            ends.append(step)
        steps = np.array(self._steps, dtype=np.uint32)
        header = np.array([len(steps), *sizes, len(ends), bits], dtype=np.uint32)
        data = b"".join(np.ascontiguousarray(part).tobytes() for part in (
            header, steps, np.array(ends, dtype=np.uint32), words.astype(np.int32), factors.astype(np.uint16)))
        said = subprocess.run([compiled(_SOURCE)], input=data, check=True, capture_output=True).stdout.decode()
        if said != "holds\n":
            raise OtherResult(said.strip())
