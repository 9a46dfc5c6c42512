# SPDX-License-Identifier: Apache-2.0
"""Claims about functions, and what runs them: arrays of unknown words in memory, and the checks of results."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from proofs.algebra import methods, solver
from proofs.algebra.evaluation import evaluate
from proofs.algebra.facts import Form, NotProved, OtherRange, OtherResult
from proofs.algebra.ranges import Facts
from proofs.algebra.terms import Term, concat, const, extract, shape, variable, zext
from proofs.machines.instruction_sets import machine_of
from proofs.machines.machine import Machine
from proofs.machines.memory import (STACK, STACK_BYTES, THREAD, THREAD_BYTES, Library, NotFollowed, bytes_of,
                                    value_of)

FIRST_ADDRESS, DISTANCE = 0x1000_0000, 0x0100_0000  # of arrays

FRAMES = (range(STACK - STACK_BYTES, STACK), range(THREAD, THREAD + THREAD_BYTES))  # what a function may use
BLOCK = 1 << 18  # of values that are computed at a time

ANY_WORD = (-(1 << 15), (1 << 15) - 1)  # of 16 bits
LANES = {"avx2": 16, "avx512": 32, "neon": 16}  # items of a block of words of 16 bits
REGISTER = {"avx2": 32, "avx512": 64}  # bytes

Values = NDArray[np.int64]
Proof = Callable[[Library, str], None]  # of a function's claim, in a library


@dataclass
class Array:
    """Unknown words in memory. Word n is variable number `first` + n of the run's facts."""

    address: int
    first: int
    words: list[Term] = field(default_factory=list)


@dataclass
class Ran:
    """What the runs of a claim have executed and read."""

    executed: set[int] = field(default_factory=set)  # addresses of instructions
    constants: set[int] = field(default_factory=set)  # addresses of the library's bytes
    steps: int = 0
    longest: int = 0  # steps of one run

    def add(self, machine: Machine) -> None:
        self.executed |= machine.executed
        self.constants |= machine.memory.constants
        self.steps += machine.steps
        self.longest = max(self.longest, machine.steps)


class Run:
    """A call of one function, and what is then known mod q."""

    _last: ClassVar[Run | None] = None
    _earlier: ClassVar[Ran] = Ran()
    _beside: ClassVar[str] = ""  # what earlier runs have written beside their results
    machine_of: ClassVar[Callable[[Library], Machine]] = staticmethod(machine_of)
    drawn: ClassVar[Random | None] = None  # words are drawn instead of unknown: see native.py

    def __init__(self, library: Library, q: int) -> None:
        self.machine, self.facts = self.machine_of(library), Facts(q)
        if Run._last is not None:
            Run._beside = Run._beside or Run._last.written_beside_results()
            Run._earlier.add(Run._last.machine)
        Run._last = self
        self._arrays = 0
        self._disregarded: list[range] = []
        self._tables: set[tuple[object, ...]] = set()  # what holds for all values: see expect_table()

    def written_beside_results(self) -> str:
        """Returns what the function has written outside its frame and the claim has not read, or ""."""
        memory = self.machine.memory
        allowed = [*FRAMES, *memory.library.grid, *memory.unknown, *self._disregarded]
        unread = [at for at in memory.unread if not any(at in part for part in allowed)]
        if not unread:
            return ""
        elsewhere = [at for at in unread if at not in self.arrays]
        if elsewhere:
            return f"{len(elsewhere)} bytes are written outside the arrays, the first at {min(elsewhere):#x}"
        array, byte = divmod(min(unread) - FIRST_ADDRESS, DISTANCE)
        return f"{len(unread)} bytes are written that no result has, the first is byte {byte} of array {array}"

    def disregard(self, address: int, size: int) -> None:
        """Lets the function write `size` bytes that the claim does not read: padding, or inputs that it uses up."""
        self._disregarded.append(range(address, address + size))

    @staticmethod
    def begin_claim() -> None:
        """Forgets what the runs of other claims have executed."""
        Run._last, Run._earlier, Run._beside = None, Ran(), ""

    @staticmethod
    def end_claim() -> None:
        """Raises NotProved if a function has written anything beside its results in a run since begin_claim()."""
        if problem := Run._beside or Run.latest().written_beside_results():
            raise OtherResult(problem)

    @staticmethod
    def ran() -> Ran:
        """Returns what all runs since begin_claim() have executed."""
        if Run._last is not None:
            Run._earlier.add(Run._last.machine)
            Run._last = None
        return Run._earlier

    @staticmethod
    def latest() -> Run:
        """Returns the run that was made last."""
        assert Run._last is not None
        return Run._last

    def space(self) -> int:
        """Returns the address of an array that nothing has written."""
        self._arrays += 1
        address = FIRST_ADDRESS + self._arrays * DISTANCE
        if self.machine.library.overlaps(range(address, address + DISTANCE)):
            raise NotFollowed(f"array {self._arrays} would be where the program is")
        return address

    @property
    def arrays(self) -> range:
        """Returns the addresses of all arrays, and of room for one before the first."""
        return range(FIRST_ADDRESS, FIRST_ADDRESS + (self._arrays + 1) * DISTANCE)

    def unknown(self, name: str, count: int, low: int, high: int, width: int = 16, at: int | None = None) -> Array:
        """Makes an array of words of `width` bits, at an address or a new one; each stands for any integer in
        [low, high]."""
        array = Array(self.space() if at is None else at, len(self.facts.variables))
        for n in range(count):
            array.words.append(self._one(f"{name}[{n}]", low, high, width))
            self.machine.memory.store(array.address + n * width // 8, bytes_of(array.words[n]))
        return array

    def fields(self, name: str, count: int, bits: int, low: int = 0, high: int | None = None) -> Array:
        """Makes terms of `bits` bits, which stand for any unsigned integers, or those in [low, high]. store() puts them
        into memory."""
        first, high = len(self.facts.variables), (1 << bits) - 1 if high is None else high
        return Array(0, first, [self._one(f"{name}[{n}]", low, high, bits) for n in range(count)])

    def stream(self, name: str, count: int, bits: int) -> Array:
        """Makes an array of bytes that are fields side by side, the lowest bits first. `words` are the fields."""
        array = self.fields(name, count, bits)
        array.address = self.space()
        together = 8 // math.gcd(bits, 8)
        for n in range(0, count, together):
            whole = concat(*reversed(array.words[n:n + together]))
            self.machine.memory.store(array.address + n * bits // 8, bytes_of(whole))
        return array

    def store(self, words: Sequence[Term], width: int = 16) -> int:
        """Returns the address of an array of the words, to which zeros are added above up to `width` bits."""
        address = self.space()
        for n, word in enumerate(words):
            self.machine.memory.store(address + n * width // 8, bytes_of(zext(word, width)))
        return address

    def _one(self, name: str, low: int, high: int, width: int) -> Term:
        if self.drawn is not None:
            return const(self.drawn.choice((low, high, self.drawn.randint(low, high))), width)
        word = variable(name, width)
        self.facts.assume(word, low, high)
        return word

    def unknown_lanes(self, name: str, count: int, lanes: int, width: int = 16, at: int | None = None) -> Array:
        """Makes `count` rows of any words, one for each of `lanes` items, at an address or a new one. The array's words
        are those of any one item of the first register of a row, then of any one of the second, if a row has several:
        these are other variables, lest a result depends on items of several. Drawn words are equal in all lanes."""
        self.machine.alike = True
        array = Array(self.space() if at is None else at, 0)
        size = min(lanes * width // 8, self.machine.vector_bytes)
        for part in range(lanes * width // 8 // size):
            for n in range(count):
                drawn, label = self.drawn, f"{name}[{n}]" + (f" of part {part}" if part else "")
                word = variable(label, width) if drawn is None else const(drawn.getrandbits(width), width)
                array.words.append(word)
                to = array.address + n * lanes * width // 8 + part * size
                self.machine.memory.store(to, self.machine.lanes_alike(word, size))
        return array

    def parts(self, lanes: int, width: int = 16) -> int:
        """Returns how many registers a row is in."""
        return max(1, lanes * width // 8 // self.machine.vector_bytes)

    def workspace(self, size: int) -> int:
        """Returns the address of `size` bytes that may hold anything."""
        address = self.space()
        if self.drawn is None:
            self.machine.memory.unknown.append(range(address, address + size))
        else:
            self.machine.memory.store(address, [(const(byte, 8), 0) for byte in self.drawn.randbytes(size)])
        return address

    def pointers(self, *addresses: int) -> int:
        """Returns the address of pointers, or of words of that size, which follow each other."""
        at, size = self.space(), self.machine.pointer_bytes
        for n, address in enumerate(addresses):
            self.machine.memory.store(at + size * n, bytes_of(const(address, 8 * size)))
        return at

    def result(self, address: int, n: int, width: int = 16) -> Term:
        """Returns word n of an array after the call."""
        return value_of(self.machine.memory.load(address + n * width // 8, width // 8))

    def lane(self, address: int, n: int, lanes: int, width: int = 16, part: int = 0) -> Term:
        """Returns the word of any one item in row n of an array after the call, or in a part of it."""
        size = min(lanes * width // 8, self.machine.vector_bytes)
        at = address + n * lanes * width // 8 + part * size
        lane = self.machine.lane_of(self.machine.memory.load(at, size), width)
        if lane is None:
            raise NotProved(f"lanes of row {n} are not alike")
        return lane

    def expect(self, term: Term, form: Form, low: int, high: int, what: str) -> None:
        """Raises NotProved unless a result is congruent to a form mod q, and in [low, high]."""
        fact = self.facts.fact(term)
        if fact.form is None:
            raise NotProved(f"{what} is in [{fact.low}, {fact.high}], and nothing else is known about it")
        if fact.form != form:
            raise OtherResult(f"{what} is not congruent to what the specification says")
        if fact.low < low or fact.high > high:
            raise OtherRange(f"{what} is in [{fact.low}, {fact.high}], expected [{low}, {high}]")

    def expect_same(self, term: Term, expected: Term, what: str) -> None:
        """Raises NotProved unless a result has the expected bits of the inputs."""
        if term is expected:
            methods.used.add("terms")
        if term is not expected and not solver.equal(term, expected):
            raise OtherResult(f"{what} is {term}, expected {expected}")

    def expect_packed(self, address: int, fields: Sequence[Term]) -> None:
        """Raises NotProved unless an array has the fields side by side, the lowest bits first, in whole bytes."""
        bits, together = fields[0].width, 8 // math.gcd(fields[0].width, 8)
        for n in range(0, len(fields), together):
            whole = concat(*reversed(fields[n:n + together]))
            for byte in range(whole.width // 8):
                at = n * bits // 8 + byte
                self.expect_same(self.result(address, at, 8), extract(whole, 8 * byte + 7, 8 * byte), f"byte {at}")

    def field(self, address: int, n: int, bits: int) -> Term:
        """Returns field n of an array of fields of `bits` bits side by side."""
        first, beside = divmod(n * bits, 8)
        whole = value_of(self.machine.memory.load(address + first, -(-(beside + bits) // 8)))
        return extract(whole, beside + bits - 1, beside)

    def expect_table(self, term: Term, sources: Term | Sequence[Term], expected: Callable[..., Values],
                     what: str) -> None:
        """Raises NotProved unless a result is the expected function of one or several inputs, for all values of them.
        An expected value stands for its bits. Results that are the same function are computed once."""
        sources = [sources] if isinstance(sources, Term) else list(sources)
        ends = [(self.facts.of[source].low, self.facts.of[source].high) for source in sources]
        found = shape(term, sources)
        if found is None:
            raise NotProved(f"{what} depends on more than {', '.join(map(str, sources))}")
        key = (found, *ends, expected)
        if key in self._tables:
            return
        count = math.prod(high - low + 1 for low, high in ends)
        for begin in range(0, count, BLOCK):
            number, x = np.arange(begin, min(begin + BLOCK, count), dtype=np.int64), []
            for low, high in ends:
                number, digit = np.divmod(number, high - low + 1)
                x.append(digit + low)
            ones = [np.uint64((1 << t.width) - 1) for t in (*sources, term)]
            known = {source: value.astype(np.uint64) & bits for source, value, bits in zip(sources, x, ones)}
            values, right = evaluate(term, known), expected(*x).astype(np.uint64) & ones[-1]
            wrong = np.flatnonzero(values != right)
            if len(wrong):
                at = wrong[0]
                given = ", ".join(str(value[at]) for value in x)
                values = np.broadcast_to(values, right.shape)
                raise OtherResult(f"{what} is {values[at]} for {given}, expected {right[at]}")
        self._tables.add(key)


@dataclass(frozen=True)
class Claim:
    """What one function computes, for all inputs in their ranges. `prove` raises NotProved or NotFollowed."""

    name: str
    function: str  # a symbol, or "TABLE[n]": see Library.function()
    inputs: str
    result: str
    prove: Proof
    inlined: bool = False  # the library has it inlined only: the function is in wrappers/
    is_long: bool = False  # takes so long that only the complete run proves it

    def is_for(self, instruction_set: str) -> bool:
        """Returns whether a library of an instruction set has the function; "ref" is portable code, which all have but
        that for the Cortex-M4, whose claims are its own."""
        only = {"avx2": "x86-64", "avx512": "x86-64", "amx": "x86-64", "neon": "AArch64", "m4": "Thumb"}
        words = self.name.split()
        return ("m4" in words) == (instruction_set == "Thumb") and all(
            only.get(word, instruction_set) == instruction_set for word in words)
