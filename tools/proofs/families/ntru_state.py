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
from proofs.families.ntru import LANES, field
from proofs.machines.machine import Machine
from proofs.machines.memory import Library, bytes_of, value_of

HRSS = (701, 1373)  # the others are HPS
WORD = 1 << 16
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


def fields(backend: Backend, n: int) -> dict[str, tuple[int, int]]:
    """Returns the offset of each polynomial of the working memory, and the bits of a coefficient; of "end" where the
    last one ends."""
    names, result, at = "a b inverse_f x y z u v w end", {}, 0
    if backend.has_bytes:
        names = "a b inverse_f small x z u end"
    elif backend.lanes > 1:
        names = "a b inverse_f x y z u end"
    for name in names.split():
        is_byte = backend.has_bytes and name in ("a", "b", "inverse_f", "small")
        result[name] = at, 8 if is_byte else 16
        if backend.has_bytes:
            at += rounded_up(n, 64) * (1 if is_byte else 2)
        else:
            at += rounded_up(2 * n * backend.lanes, 64) if backend.lanes > 1 else 2 * n
    return result


class State:
    """The state of a step in memory, on as many items as there are lanes, or on a few that follow each other."""

    def __init__(self, run: Run, backend: Backend, n: int, items: int = 1) -> None:
        self.run, self.backend, self.n = run, backend, n
        self.fields, self._sums = fields(backend, n), Grouped()
        self._lanes = [Lane(item) for item in range(backend.lanes)]
        self.size = items * (self.fields["end"][0] + (1 << 14) * backend.lanes)
        self.work, self.records = run.workspace(self.size), run.workspace((1 << 12) * backend.lanes)
        run.machine.alike = backend.lanes > 1
        self.batch = run.pointers(max(backend.lanes, items), 0, *[self.records] * 30)
        room = self.room = run.space()  # of products
        run.disregard(room, 1 << 18)
        if backend.lanes > 1:
            self.address = run.pointers(self.batch, backend.lanes, self.work, room, self.records, 0)
        elif backend.has_bytes:
            self.address = run.pointers(self.batch, items, self.work, self.records, room)
        else:
            self.address = run.pointers(self.batch, self.work, room)

    def put(self, field: str, words: Sequence[Term]) -> None:
        """Stores coefficients, which are those of each item."""
        at, bits = self.fields[field]
        self.put_at(self.work + at, words, bits)

    def put_at(self, address: int, words: Sequence[Term], bits: int = 16) -> None:
        size = bits // 8 * self.backend.lanes
        for i, word in enumerate(words):
            data = self.run.machine.lanes_alike(word, size) if self.backend.lanes > 1 else bytes_of(word)
            self.run.machine.memory.store(address + size * i, data)

    def get(self, field: str) -> Words:
        """Returns the n coefficients of any one item."""
        at, bits = self.fields[field]
        return self.get_at(self.work + at, bits)

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

    def touched_beyond(self) -> list[int]:
        """Returns the addresses of the working memory beyond the polynomials that were read or written, in order."""
        first = self.work + self.fields["end"][0]
        return sorted(at for at in self.run.machine.memory.written if first <= at < self.work + self.size)

    def words(self, field: str) -> Words:
        """Makes coefficients that are any words."""
        return self._stored(field, [self._any(f"{field}[{i}]", 0, WORD - 1, 16) for i in range(self.n)])

    def trits(self, field: str) -> Words:
        """Makes n - 1 coefficients in {0, 1, 2}, and a last one that is 0. Returns their lowest two bits."""
        bits = self.fields[field][1]
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
        name = f"{table}[{5 if self.backend.lanes > 1 else 7}]"
        if self.backend is REF:
            name = "_ZN7polykem15poly_mul_cyclicEPtPKtS2_m"
        if self.run.drawn is None:
            self.run.machine.instead[library.function(name)] = product
        elif self.backend is not REF:
            size = field(library, table, 3 if self.backend.lanes > 1 else 4) + 4 * rounded_up(self.n, 64)
            self.run.machine.memory.store(self.room, [(const(byte, 8), 0) for byte in self.run.drawn.randbytes(size)])
        return operands

    def expect_residues(self, results: Words, words: Words, what: str) -> None:
        """Raises NotProved unless results are words minus the last one mod 3, in [0, 2]."""
        of = self.run.facts.of
        for i, result in enumerate(results):
            form = self.run.facts.combine(of[words[i]].form, of[words[-1]].form, -1)
            self.run.expect(result, form or {}, 0, 2, f"{what} {i}")
