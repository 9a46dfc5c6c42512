# SPDX-License-Identifier: Apache-2.0
"""Sorting networks, as compiled: each minimum and maximum that the code computes gets a name, and what is stored is a
network of them. It is proved from its sorted runs up: a network of minima and maxima sorts if it sorts all sequences
of zeros and ones [KNUTH3, 5.3.4], and of those there are few where the operands are sorted runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from random import Random

import iced_x86 as iced
import numpy as np
from numpy.typing import NDArray

from proofs.algebra.facts import NotProved
from proofs.algebra.terms import Term, variable
from proofs.claims import Run
from proofs.machines.memory import Library, bytes_of, lanes_of
from proofs.machines.x86.machine import X86, Decoded

LARGEST = (1 << 31) - 1  # of 32 bits with a sign
MOST_PATTERNS = 1 << 21
TOGETHER = 1 << 15  # patterns


@dataclass(frozen=True)
class Choice:
    """The smaller or the larger one of two terms of 32 bits with a sign."""

    is_least: bool
    of: tuple[Term, Term]


class Comparing(X86):
    """A machine that gives the minima and maxima of words of 32 bits with a sign names."""

    def __init__(self, library: Library) -> None:
        super().__init__(library)
        self.choices: dict[Term, Choice] = {}  # in the order in which they were made

    def execute(self, instruction: Decoded) -> None:
        i, name = instruction.i, instruction.name
        if name not in ("vpminsd", "vpmaxsd"):
            super().execute(instruction)
            return
        size, is_least = self.vector_size(i), name == "vpminsd"
        operands = [self.read_vector(i, n, size) for n in (1, 2)]
        alike = [self.lane_of(data, 32) for data in operands] if self.alike else [None, None]
        if None not in alike and i.op_mask == iced.Register.NONE:
            self.write_vector(i, self.lanes_alike(self.choice(is_least, *alike), size))
        else:
            chosen = map(partial(self.choice, is_least), *(lanes_of(data, 32) for data in operands))
            self.write_vector(i, [byte for lane in chosen for byte in bytes_of(lane)], 32)

    def choice(self, is_least: bool, a: Term, b: Term) -> Term:
        if a is b:
            return a
        for one, other in ((a, b), (b, a)):
            if one.value == LARGEST:
                return other if is_least else one
        a, b = sorted((a, b), key=lambda term: term.number)
        name = variable(f"{'least' if is_least else 'greatest'} of {a.number} and {b.number}", 32)
        self.choices.setdefault(name, Choice(is_least, (a, b)))
        return name


def comparing(library: Library, q: int = 3) -> Run:
    """Returns a run whose machine names minima and maxima."""
    run = Run(library, q)
    if run.drawn is None:
        run.machine = Comparing(library)
    return run


class Network:
    """What minima and maxima of inputs are."""

    def __init__(self, choices: dict[Term, Choice], inputs: Sequence[Term], outputs: Sequence[Term]) -> None:
        self._choices, self._outputs = choices, outputs
        self._on: dict[Term, int] = {term: 1 << n for n, term in enumerate(inputs)}  # of which inputs a term is made
        self._all = (1 << len(inputs)) - 1
        self._runs: dict[int, list[Term]] = {self._on[term]: [term] for term in inputs}
        self._sorted: dict[Term, int] = {term: self._on[term] for term in inputs}  # of a run, and on which inputs it is
        for term, choice in choices.items():
            if any(operand not in self._on for operand in choice.of):
                raise NotProved(f"{choice.of} are compared, which are no words of the input")
            self._on[term] = self._on[choice.of[0]] | self._on[choice.of[1]]

    def expect_sorted(self) -> None:
        """Raises NotProved unless the outputs are the smallest inputs in order, however many there are of both."""
        if any(self._on.get(term) != self._all for term in self._outputs):
            raise NotProved("what is stored is not a choice of all words")
        for on, terms in sorted(self._candidates().items(), key=lambda item: item[0].bit_count()):
            if on != self._all and on not in self._runs and len(terms) == on.bit_count():
                terms.sort(key=self._drawn().__getitem__)
                if self._problem(terms, on) is None:
                    self._runs[on] = terms
                    self._sorted |= dict.fromkeys(terms, on)
        if problem := self._problem(self._outputs, self._all):
            raise NotProved(problem)

    def _candidates(self) -> dict[int, list[Term]]:
        """Returns terms that are compared with terms on other inputs, by the inputs that they are on."""
        found: dict[int, dict[Term, None]] = {}
        for term, choice in self._choices.items():
            for operand in choice.of:
                if self._on[operand] != self._on[term]:
                    found.setdefault(self._on[operand], {})[operand] = None
        return {on: list(terms) for on, terms in found.items()}

    def _drawn(self) -> dict[Term, int]:
        """Returns all terms for one permutation of words; in its order, runs may be sorted."""
        if not hasattr(self, "_example"):
            inputs = [term for term in self._on if term not in self._choices]
            self._example = dict(zip(inputs, Random(1).sample(range(len(inputs)), len(inputs))))
            for term, choice in self._choices.items():
                values = [self._example[operand] for operand in choice.of]
                self._example[term] = min(values) if choice.is_least else max(values)
        return self._example

    def _problem(self, terms: Sequence[Term], on: int) -> str | None:
        """Returns why terms are not the smallest words of the inputs that they are on, in order; None if they are, for
        all zeros and ones."""
        steps, runs = self._steps(terms, on)
        union = 0
        for run in runs:
            union |= run
        sizes = [run.bit_count() for run in runs]
        if union != on or sum(sizes) != on.bit_count():
            return "sorted runs overlap, or do not have all words"
        patterns = 1
        for size in sizes:
            patterns *= size + 1
        if patterns > MOST_PATTERNS:
            return f"{len(terms)} words are made of runs of {sizes}, which are too many sequences of zeros and ones"
        for first in range(0, patterns, TOGETHER):
            number, zeros = np.arange(first, min(first + TOGETHER, patterns)), []
            for size in sizes:
                number, remainder = np.divmod(number, size + 1)
                zeros.append(remainder)
            known: dict[Term, NDArray[np.uint8]] = {}
            for run, count in zip(runs, zeros):
                known |= {term: np.packbits(n >= count) for n, term in enumerate(self._runs[run])}
            for term in steps:
                a, b = (known[operand] for operand in self._choices[term].of)
                known[term] = a & b if self._choices[term].is_least else a | b
            for n, term in enumerate(terms):
                if np.any(known[term] != np.packbits(n >= sum(zeros))):
                    return f"word {n} of {len(terms)} is not in its place"
        return None

    def _steps(self, terms: Sequence[Term], on: int) -> tuple[list[Term], list[int]]:
        """Returns the choices by which terms are made of sorted runs on fewer inputs, in order, and these."""
        steps: set[Term] = set()
        runs: dict[int, None] = {}
        stack = list(terms)
        while stack:
            term = stack.pop()
            if term in steps:
                continue
            run = self._sorted.get(term)
            if run is not None and run != on:
                runs[run] = None
            else:
                steps.add(term)
                stack += self._choices[term].of
        return sorted(steps, key=lambda term: self._place[term]), list(runs)

    @property
    def _place(self) -> dict[Term, int]:
        if not hasattr(self, "_places"):
            self._places = {term: n for n, term in enumerate(self._choices)}
        return self._places
