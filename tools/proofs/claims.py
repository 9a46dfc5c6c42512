# SPDX-License-Identifier: Apache-2.0
"""Claims about functions, and what runs them: arrays of unknown words in memory, and the checks of results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from proofs import solver
from proofs.machine import Machine
from proofs.memory import Library, bytes_of, value_of
from proofs.ranges import Facts, Form, NotProved
from proofs.terms import Term, const, variable

FIRST_ADDRESS, DISTANCE = 0x1000_0000, 0x0100_0000  # of arrays

Values = NDArray[np.int64]


@dataclass
class Array:
    """Unknown words in memory. Word n is variable number `first` + n of the run's facts."""

    address: int
    first: int
    words: list[Term] = field(default_factory=list)


class Run:
    """A call of one function, and what is then known mod q."""

    last: ClassVar[Run]
    machine_type: ClassVar[type[Machine]] = Machine
    drawn: ClassVar[Random | None] = None  # words are drawn instead of unknown: see native.py

    def __init__(self, library: Library, q: int) -> None:
        self.machine, self.facts = self.machine_type(library), Facts(q)
        Run.last = self
        self._arrays = 0

    def space(self) -> int:
        """Returns the address of an array that nothing has written."""
        self._arrays += 1
        return FIRST_ADDRESS + self._arrays * DISTANCE

    def unknown(self, name: str, count: int, low: int, high: int, width: int = 16) -> Array:
        """Makes an array of words of `width` bits; each stands for any integer in [low, high]."""
        array = Array(self.space(), len(self.facts.variables))
        for n in range(count):
            if self.drawn is None:
                word = variable(f"{name}[{n}]", width)
                self.facts.assume(word, low, high)
            else:
                word = const(self.drawn.choice((low, high, self.drawn.randint(low, high))), width)
            array.words.append(word)
            self.machine.memory.store(array.address + n * width // 8, bytes_of(word))
        return array

    def pointer(self, address: int) -> int:
        """Returns the address of a pointer to an address."""
        at = self.space()
        self.machine.memory.store(at, bytes_of(const(address, 64)))
        return at

    def result(self, address: int, n: int, width: int = 16) -> Term:
        """Returns word n of an array after the call."""
        return value_of(self.machine.memory.load(address + n * width // 8, width // 8))

    def expect(self, term: Term, form: Form, low: int, high: int, what: str) -> None:
        """Raises NotProved unless a result is congruent to a form mod q, and in [low, high]."""
        fact = self.facts.fact(term)
        if fact.form != form:
            raise NotProved(f"{what} is not congruent to what the specification says")
        if fact.low < low or fact.high > high:
            raise NotProved(f"{what} is in [{fact.low}, {fact.high}], expected [{low}, {high}]")

    def expect_same(self, term: Term, expected: Term, what: str) -> None:
        """Raises NotProved unless a result has the expected bits of the inputs."""
        if term is not expected and not solver.equal(term, expected):
            raise NotProved(f"{what} is {term}, expected {expected}")

    def expect_table(self, term: Term, source: Term, expected: Callable[[Values], Values], what: str) -> None:
        """Raises NotProved unless a result is the expected function of one input, for every value of it."""
        if source not in self.facts.sources(term):
            raise NotProved(f"{what} does not depend on {source} alone")
        x = np.arange(self.facts.of[source].low, self.facts.of[source].high + 1, dtype=np.int64)
        values = self.facts.values(term, source, x).astype(np.int64)
        wrong = np.flatnonzero(values != expected(x))
        if len(wrong):
            raise NotProved(f"{what} is {values[wrong[0]]} for {x[wrong[0]]}, expected {expected(x)[wrong[0]]}")


@dataclass(frozen=True)
class Claim:
    """What one function computes, for all inputs in their ranges. `prove` raises NotProved or NotFollowed."""

    name: str
    function: str  # a symbol, or "TABLE[n]": see Library.function()
    inputs: str
    result: str
    prove: Callable[[Library, str], None]
