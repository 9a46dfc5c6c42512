# SPDX-License-Identifier: Apache-2.0
"""The state of NTRU's steps, of one item and of interleaved ones, as src/schemes/ntru lays it out. A step that
multiplies is proved with any words as the product, which ntru.py has proofs about."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from proofs.algebra.facts import NotProved
from proofs.algebra.rewriting import Grouped, Lane
from proofs.algebra.terms import Term, concat, const, variable, zext
from proofs.claims import Run
from proofs.families.ntru import LANES, LOG_Q, field
from proofs.families.ntru_sort import GAP, sequence
from proofs.machines.machine import Machine
from proofs.machines.memory import Library, bytes_of, value_of

HRSS = (701, 1373)  # the others are HPS
WORD = 1 << 16
SEED = 32  # bytes of keys of the PRF and of shared secrets
Words = list[Term]


@dataclass(frozen=True)
class Backend:
    """How the steps of a backend lay out their items."""

    name: str  # in claims
    isa: str
    steps: str  # what its symbols begin with
    lanes: int = 1
    has_bytes: bool = False  # small coefficients are bytes, not words


REF = Backend("ref", "portable", "_ZN7polykem4ntru3ref8portable5Steps")
AVX2 = Backend("avx2", "avx2", "_ZN7polykem4ntru3ref4avx25Steps")
AVX512 = Backend("avx512", "avx512", "_ZN7polykem4ntru6single6avx5125Steps", has_bytes=True)
BLOCKS = [Backend(f"{isa} block", isa, f"_ZN7polykem4ntru11interleaved{len(isa)}{isa}5Steps", lanes)
          for isa, lanes in LANES.items()]


def rounded_up(x: int, to: int) -> int:
    return -(-x // to) * to


@dataclass(frozen=True)
class Sizes:
    """What src/schemes/ntru/params.hpp has, in bytes."""

    n: int

    @property
    def trits(self) -> int:
        return -(-(self.n - 1) // 5)

    @property
    def ciphertext(self) -> int:
        return -(-(self.n - 1) * LOG_Q[self.n] // 8)

    @property
    def coins(self) -> int:
        """Returns those of encapsulation."""
        return self.n - 1 + (self.n - 1 if self.n in HRSS else -(-30 * (self.n - 1) // 8))


def polynomials(backend: Backend, n: int) -> dict[str, int]:
    """Returns the bits of a coefficient of each polynomial of the working memory, in order."""
    if backend.has_bytes:
        return dict.fromkeys(("a", "b", "inverse_f", "small"), 8) | dict.fromkeys("xzu", 16)
    return dict.fromkeys(("a", "b", "inverse_f", *("xyzu" if backend.lanes > 1 else "xyzuvw")), 16)


def arrays(backend: Backend, n: int) -> list[tuple[str, int, int]]:
    """Returns the name, the alignment and the size of each array that follows the polynomials."""
    lanes, of = backend.lanes, Sizes(n)
    rm, reject = ("rm", 1, 2 * of.trits * lanes), ("reject", 1, (SEED + of.ciphertext) * lanes)
    rejection, fail = ("rejection", 1, SEED * lanes), ("fail", 2 if lanes > 1 else 4, 2 * lanes if lanes > 1 else 4)
    if backend.has_bytes:
        return [rm, reject, rejection, fail]
    if lanes > 1:
        keys = rounded_up((2 * sequence(n) + GAP + 16) * 2 * lanes, 64)
        return [("words", 64, 2 * lanes * (n + lanes)), ("sort", 64, keys), ("coins", 1, of.coins * lanes), rm, reject,
                rejection, fail]
    return [("keys", 4, 4 * (n + 12)), ("coins", 1, of.coins + SEED), rm, ("secret", 1, SEED), rejection, fail]


def layout(backend: Backend, n: int) -> dict[str, int]:
    """Returns the offset of each member of the working memory, and as "end" its size."""
    result, at = {}, 0
    for name, bits in polynomials(backend, n).items():
        result[name] = at
        if backend.has_bytes:
            at += rounded_up(n, 64) * bits // 8
        else:
            at += rounded_up(2 * n * backend.lanes, 64) if backend.lanes > 1 else 2 * n
    for name, alignment, size in arrays(backend, n):
        result[name] = rounded_up(at, alignment)
        at = result[name] + size
    return result | {"end": rounded_up(at, 64 if backend.has_bytes or backend.lanes > 1 else 4)}


class State:
    """The state of a step in memory, on as many items as there are lanes, or on a few that follow each other."""

    def __init__(self, run: Run, backend: Backend, n: int, items: int = 1) -> None:
        self.run, self.backend, self.n = run, backend, n
        self.bits, self.layout, self._sums = polynomials(backend, n), layout(backend, n), Grouped()
        self._lanes = [Lane(item) for item in range(backend.lanes)]
        self.work, self.records = run.workspace(items * self.layout["end"]), run.space()
        run.machine.alike = backend.lanes > 1
        self.batch = run.pointers(max(backend.lanes, items), 0, *[self.records] * 30)
        room = self.room = run.space()  # of products
        if backend.lanes > 1:
            self.address = run.pointers(self.batch, backend.lanes, self.work, room, self.records, 0)
        elif backend.has_bytes:
            self.address = run.pointers(self.batch, items, self.work, self.records, room)
        else:
            self.address = run.pointers(self.batch, self.work, room)

    def at(self, member: str, item: int = 0) -> int:
        """Returns the address of a member of the working memory, of one of several that follow each other."""
        return self.work + item * self.layout["end"] + self.layout[member]

    def put(self, field: str, words: Sequence[Term]) -> None:
        """Stores coefficients, which are those of each item."""
        self.put_at(self.at(field), words, self.bits[field])

    def put_at(self, address: int, words: Sequence[Term], bits: int = 16) -> None:
        size = bits // 8 * self.backend.lanes
        for i, word in enumerate(words):
            data = self.run.machine.lanes_alike(word, size) if self.backend.lanes > 1 else bytes_of(word)
            self.run.machine.memory.store(address + size * i, data)

    def get(self, field: str) -> Words:
        """Returns the n coefficients of any one item."""
        return self.get_at(self.at(field), self.bits[field])

    def get_at(self, address: int, bits: int = 16) -> Words:
        if self.backend.lanes > 1:
            return [self._sums.of(self.item_at(address + i * bits // 8 * self.backend.lanes, bits // 8))
                    for i in range(self.n)]
        return [self.run.result(address, i, bits) for i in range(self.n)]

    def item_at(self, row: int, size: int, stride: int | None = None) -> Term:
        """Returns what any one item has in a row of words of `size` bytes, one for each item."""
        lanes = self.backend.lanes
        if lanes == 1:
            return value_of(self.run.machine.memory.load(row, size))
        data = self.run.machine.memory.load(row, size * lanes) if stride is None else [
            byte for item in range(lanes) for byte in self.run.machine.memory.load(row + item * stride, size)]
        lane = self.run.machine.lane_of(data, 8 * size)
        if lane is not None:
            return lane
        items = {self._lanes[item].of(value_of(data[item * size:(item + 1) * size])) for item in range(lanes)}
        if len(items) > 1:
            raise NotProved(f"items at {row:#x} are not alike")
        return items.pop()

    def put_record(self, address: int, stride: int, name: str, count: int) -> Words:
        """Makes a record of each item, of any bytes. Returns those of any one item."""
        record = [self._any(f"{name}[{i}]", 0, 255, 8) for i in range(count)]
        memory, lanes = self.run.machine.memory, self.backend.lanes
        for at in range(0, count, 2):
            whole = concat(*reversed(record[at:at + 2]))
            size = whole.width // 8
            data = self.run.machine.lanes_alike(whole, size * lanes) if lanes > 1 else bytes_of(whole)
            for item in range(lanes):
                memory.store(address + item * stride + at, data[item * size:(item + 1) * size])
        return record

    def get_record(self, address: int, stride: int, count: int) -> Words:
        """Returns the bytes of a record of any one item."""
        if self.backend.lanes == 1:
            return [self.run.result(address, at, 8) for at in range(count)]
        return [self.item_at(address + at, 1, stride) for at in range(count)]

    def words(self, field: str) -> Words:
        """Makes coefficients that are any words."""
        return self._stored(field, [self._any(f"{field}[{i}]", 0, WORD - 1, 16) for i in range(self.n)])

    def trits(self, field: str) -> Words:
        """Makes n - 1 coefficients in {0, 1, 2}, and a last one that is 0. Returns their lowest two bits."""
        bits = self.bits[field]
        words = [self._any(f"{field}[{i}]", 0, 2, 2) for i in range(self.n - 1)]
        end = rounded_up(self.n, 64) if self.backend.has_bytes else self.n
        self._stored(field, [zext(word, bits) for word in words] + [const(0, bits)] * (end - self.n + 1))
        return [*words, const(0, 2)]

    def residues(self, field: str, low: int, high: int, bits: int, ends_with_zero: bool = False) -> Words:
        """Makes coefficients of `bits` bits, which stand for integers in [low, high], and any bits above them. The last
        one may be 0 instead."""
        words = [self._any(f"{field}[{i}]", low, high, bits) for i in range(self.n - ends_with_zero)]
        zero = [const(0, 16)] if ends_with_zero else []
        self._stored(field, [*self.with_any_above(field, words), *zero])
        return [*words, *(const(0, bits) for _ in zero)]

    def with_any_above(self, name: str, words: Words) -> Words:
        bits = 16 - words[0].width
        return [concat(self._any(f"above {name}[{i}]", 0, (1 << bits) - 1, bits), word) if bits else word
                for i, word in enumerate(words)]

    def _any(self, name: str, low: int, high: int, bits: int) -> Term:
        if self.run.drawn is not None:
            return const(self.run.drawn.choice((low, high, self.run.drawn.randint(low, high))), bits)
        word = variable(name, bits)
        self.run.facts.assume(word, low, high)
        return word

    def _stored(self, field: str, words: Words) -> Words:
        self.put(field, words)
        return words

    def on_product(self, library: Library, make: Callable[[], Words]) -> list[tuple[Words, Words]]:
        """Lets the words that `make` returns take the place of each product; a list will have the operands. On the CPU
        products are computed."""
        operands: list[tuple[Words, Words]] = []

        def product(machine: Machine) -> None:
            c, a, b = (machine.known(machine.general[register], "an address") for register in (7, 6, 2))
            operands.append((self.get_at(a), self.get_at(b)))
            self.put_at(c, make())

        table = f"_ZN7polykem7polymul{len(self.backend.isa)}{self.backend.isa}8kPolymulILm{self.n}EEE"
        width = 2 * rounded_up(self.n, 64)  # bytes of an operand
        size = 0 if self.backend is REF else rounded_up(field(library, table, 3 if self.backend.lanes > 1 else 4), 64)
        name = f"{table}[{5 if self.backend.lanes > 1 else 7}]"
        if self.backend is REF:
            name = "_ZN7polykem15poly_mul_cyclicEPtPKtS2_m"
        if self.run.drawn is None:
            self.run.machine.instead[library.function(name)] = product
        elif size:
            drawn = self.run.drawn.randbytes(size + 2 * width)
            self.run.machine.memory.store(self.room, [(const(byte, 8), 0) for byte in drawn])
        if self.backend.has_bytes:
            self.run.disregard(self.room + size, 2 * width)  # operands as words, with those from n on
        return operands

    def expect_residues(self, results: Words, words: Words, what: str) -> None:
        """Raises NotProved unless results are words minus the last one mod 3, in [0, 2]."""
        of = self.run.facts.of
        for i, result in enumerate(results):
            form = self.run.facts.combine(of[words[i]].form, of[words[-1]].form, -1)
            self.run.expect(result, form or {}, 0, 2, f"{what} {i}")
