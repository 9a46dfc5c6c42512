# SPDX-License-Identifier: Apache-2.0
"""NTRU's steps beside products, inversions and sorts, on one item and on interleaved ones, as src/schemes/ntru lays
them out. A step that multiplies is proved with any words as the product, which ntru.py has proofs about."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from proofs.algebra.decisions import causes
from proofs.algebra.evaluation import evaluate
from proofs.algebra.facts import Form, NotProved
from proofs.algebra.ranges import Facts
from proofs.algebra.rewriting import Grouped, Lane, Lowest, Only
from proofs.algebra.terms import (Term, bitwise, compare, concat, const, extract, ite, keep_sums_whole, sext, shape,
                                  sub, variable, zext)
from proofs.claims import Claim, Proof, Run, Values
from proofs.families.ntru import LANES, LOG_Q, SHORT, SINGLE_EXACT_BITS, field
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


def centred(x: Values) -> Values:
    """Returns -1 for 2."""
    return np.where(x == 2, -1, x)


def same(x: Values) -> Values:
    return x


def reduced(backend: Backend, n: int) -> Proof:
    """reduce_cf: [NTRU20, Rq_to_S3]"""

    def prove(library: Library, function: str) -> None:
        keep_sums_whole()
        run, half = Run(library, 3), 1 << LOG_Q[n] - 1
        state = State(run, backend, n)
        z = state.residues("z", -half, half - 1, LOG_Q[n])
        run.machine.call(function, state.address)
        state.expect_residues(state.get("a"), z, "coefficient")

    return prove


def lifted(backend: Backend, n: int, sign: int) -> Proof:
    """lift_add, lift_sub: z + Lift(m), x - Lift(m). [NTRU20, Lift]"""

    def prove(library: Library, function: str) -> None:
        keep_sums_whole()
        run, of = Run(library, 3), "z" if sign > 0 else "x"
        state = State(run, backend, n)
        m, before = state.trits("b"), state.words(of)
        run.machine.call(function, state.address)
        expect_lift(run, m, before, state.get(of), sign, n in HRSS)

    return prove


def quotient_by_x_minus_1(facts: Facts, m: Words) -> list[Form]:
    """Returns v with (x - 1) v = m mod (3, Phi_n), of degree n - 2. There is a t with v_(i-1) - v_i = m_i + t for all
    i; their sum is zero, and n is 2 mod 3, so that t = m(1)."""
    t: Form = {}
    for word in m[:-1]:
        t = facts.combine(t, facts.of[word].form, 1) or {}
    result: list[Form] = []
    v: Form = {}
    for word in m:
        v = facts.combine(v, t, -1) or {}
        if word.value is None:
            v = facts.combine(v, facts.of[word].form, -1) or {}
        result.append(v)
    if result[-1]:
        raise NotProved("the quotient's last coefficient is not zero")
    return result


def expect_lift(run: Run, m: Words, before: Words, after: Words, sign: int, divides: bool) -> None:
    """Raises NotProved unless the words after a step are those before it plus `sign` Lift(m), mod 2^16. Lift(m) is v,
    or (x - 1) v, where v has coefficients in {-1, 0, 1}: parts of the results have that range, and are v mod 3."""
    v = quotient_by_x_minus_1(run.facts, m) if divides else [
        {} if word.value is not None else run.facts.of[word].form or {} for word in m]
    number = {frozenset(form.items()): (i, factor) for factor in (1, -1) for i, part in enumerate(v)
              if (form := run.facts.scaled(part, factor))}
    words, which, known = Facts(WORD), [], set()
    for word in before:
        words.assume(word, 0, WORD - 1)
    for i, result in enumerate(after):
        for part in small_parts(run.facts, result, set(before)):
            if part not in known:
                known.add(part)
                which.append(number.get(frozenset((run.facts.of[part].form or {}).items()), (None, 1)))
                if part in words.of:
                    raise NotProved(f"a part of coefficient {i} is part of another one's")
                words.assume(part, -1, 1)
        found: dict[int | None, int] = {}
        form = words.fact(result).form or {}
        if form.get((i,)) != 1:
            raise NotProved(f"coefficient {i} has not its word")
        for (place, *others), factor in ((key or (i, i), factor) for key, factor in form.items()):
            if others:
                raise NotProved(f"coefficient {i} is no sum of words")
            if place >= len(before):
                part = words.variables[place]
                if run.facts.of[part].form:
                    at, negative = which[place - len(before)]
                    found[at] = (found.get(at, 0) + negative * factor) % WORD
            elif place != i:
                raise NotProved(f"coefficient {i} has another word")
        expected = {i: -sign % WORD, i - 1: sign % WORD} if divides else {i: sign % WORD}
        if {at: factor for at, factor in found.items() if factor} != {
                at: factor for at, factor in expected.items() if at >= 0 and v[at]}:
            raise NotProved(f"coefficient {i} does not differ by that of Lift(m)")


def small_parts(facts: Facts, term: Term, others: set[Term]) -> set[Term]:
    """Returns the parts of a term that are in [-1, 1] and of which it is known what they are mod 3."""
    found, stack, done = set(), [term], set(others)
    while stack:
        top = stack.pop()
        if top in done or top.value is not None:
            continue
        done.add(top)
        try:
            fact = facts.fact(top)
        except NotProved:
            stack += top.args
            continue
        if fact.form is not None and top.width > 1 and -1 <= fact.low and fact.high <= 1:
            found.add(top)
        else:
            stack += top.args
    return found


def multiplied(backend: Backend, n: int) -> Proof:
    """mul_hr, mul_cf: the product of x and a, whose coefficients 2 become -1. [NTRU20, DPKE_Encrypt, DPKE_Decrypt]"""

    def prove(library: Library, function: str) -> None:
        run = Run(library, 3)
        state = State(run, backend, n)
        a, x, products = state.trits("a"), state.words("x"), [variable(f"product[{i}]", 16) for i in range(n)]
        operands = state.on_product(library, lambda: products)
        run.machine.call(function, state.address)
        (first, second), = operands
        if first != x or state.get("z") != products:
            raise NotProved("the product is not of x, or not stored")
        for i, (word, trit) in enumerate(zip(second, a)):
            expect_of_trit(run, word, trit, centred, f"coefficient {i}")

    return prove


def expect_of_trit(run: Run, word: Term, trit: Term, expected: Callable[[Values], Values], what: str) -> None:
    if trit.value is None:
        run.expect_table(word, trit, expected, what)
    elif word.value != trit.value:
        raise NotProved(f"{what} is {word}, expected {trit}")


def without_last(backend: Backend, n: int) -> Proof:
    """mul_r: the product of x and u minus its last coefficient. [NTRU20, DPKE_Decrypt]"""

    def prove(library: Library, function: str) -> None:
        run = Run(library, 3)
        state = State(run, backend, n)
        x, u, products = state.words("x"), state.words("u"), [variable(f"product[{i}]", 16) for i in range(n)]
        operands = state.on_product(library, lambda: products)
        run.machine.call(function, state.address)
        if operands != [(x, u)]:
            raise NotProved("the product is not of x and u")
        for i, word in enumerate(state.get("z")):
            run.expect_same(word, sub(products[i], products[-1]), f"coefficient {i}")

    return prove


def ternary_product(backend: Backend, n: int) -> Proof:
    """mul_m: the product of a and inverse_f mod (3, Phi_n). Its coefficients are at most 4 n.
    [NTRU20, DPKE_Decrypt]"""

    def prove(library: Library, function: str) -> None:
        keep_sums_whole()
        run = Run(library, 3)
        state = State(run, backend, n)
        a, b, bits = state.trits("a"), state.trits("inverse_f"), 16 if backend is REF else SINGLE_EXACT_BITS[n]
        known: Words = []

        def product() -> Words:
            for i in range(n):
                known.append(variable(f"product[{i}]", bits))
                run.facts.assume(known[-1], 0, 4 * n)
            return state.with_any_above("product", known)

        operands = state.on_product(library, product)
        run.machine.call(function, state.address)
        for words, trits in zip(operands[0], (a, b)):
            for i, (word, trit) in enumerate(zip(words, trits)):
                expect_of_trit(run, word, trit, same, f"coefficient {i} of an operand")
        state.expect_residues(state.get("b"), known, "coefficient")

    return prove


def bits_at(record: Words, first: int, count: int) -> Term:
    """Returns bits of bytes, the lowest first in each."""
    return concat(*(extract(record[bit // 8], bit % 8, bit % 8) for bit in range(first + count - 1, first - 1, -1)))


def packed(backend: Backend, n: int) -> Proof:
    """store_c: the lowest bits of all coefficients but the last one. [NTRU20, pack_Rq0]"""

    def prove(library: Library, function: str) -> None:
        run, bits = Run(library, 3), LOG_Q[n]
        state = State(run, backend, n)
        z, count = state.words("z"), rounded_up((n - 1) * bits, 8) // 8
        run.machine.call(function, state.address)
        whole = concat(const(0, 8 * count - (n - 1) * bits), *(extract(word, bits - 1, 0) for word in z[-2::-1])) \
            if 8 * count > (n - 1) * bits else concat(*(extract(word, bits - 1, 0) for word in z[-2::-1]))
        for at, byte in enumerate(state.get_record(state.records, count, count)):
            run.expect_same(byte, extract(whole, 8 * at + 7, 8 * at), f"byte {at}")

    return prove


def unpacked(backend: Backend, n: int) -> Proof:
    """load_h: coefficients from their bits; the last one makes the sum zero. [NTRU20, unpack_Rq0]"""

    def prove(library: Library, function: str) -> None:
        keep_sums_whole()
        run, count = Run(library, 3), rounded_up((n - 1) * LOG_Q[n], 8) // 8
        state = State(run, backend, n)
        record = state.put_record(state.records, count, "h", count)
        run.machine.call(function, state.address)
        expect_unpacked(run, state.get("x"), record, LOG_Q[n])

    return prove


def expect_unpacked(run: Run, words: Words, record: Words, bits: int) -> None:
    """Raises NotProved unless words are the bits of a record, and the last one is minus their sum."""
    sums, total = Facts(WORD), {}
    for i, word in enumerate(words[:-1]):
        run.expect_same(word, zext(bits_at(record, i * bits, bits), 16), f"coefficient {i}")
        sums.assume(word, 0, (1 << bits) - 1)
        total[i,] = WORD - 1
    if sums.fact(words[-1]).form != total:
        raise NotProved("the sum of the coefficients is not zero")


def loaded(backend: Backend, n: int) -> Proof:
    """load_c_sk: c, f, 1/f and 1/h from the records, and whether bits of c beyond its coefficients are set. [NTRU20,
    DPKE_Decrypt, unpack_S3, unpack_Sq]"""

    def prove(library: Library, function: str) -> None:
        keep_sums_whole()
        run, bits, trit_bytes = Run(library, 3), LOG_Q[n], -(-(n - 1) // 5)
        count = rounded_up((n - 1) * bits, 8) // 8
        state = State(run, backend, n)
        sk_bytes = 2 * trit_bytes + count + 32
        records = run.space()
        run.machine.memory.store(state.batch + 32, bytes_of(const(records, 64)))
        run.machine.memory.store(state.batch + 40, bytes_of(const(state.records, 64)))
        c = state.put_record(state.records, count, "c", count)
        sk = state.put_record(records, sk_bytes, "sk", sk_bytes)
        run.machine.call(function, state.address)
        expect_unpacked(run, state.get("x"), c, bits)
        for name, at in (("a", 0), ("inverse_f", trit_bytes)):
            expect_trits(run, state.get(name), sk[at:at + trit_bytes], name)
        u = state.get("u")
        for i, word in enumerate(u[:-1]):
            expected = zext(bits_at(sk[2 * trit_bytes:], i * bits, bits), 16)
            run.expect_same(word, expected, f"coefficient {i} of 1/h")
        if u[-1].value != 0:
            raise NotProved("the last coefficient of 1/h is not zero")
        size, used = 2 if backend.lanes > 1 else 4, (n - 1) * bits % 8
        fail = state.item_at(max(state.touched_beyond()) + 1 - size * backend.lanes, size)
        if used:
            run.expect_table(compare("eq", fail, const(0, fail.width)), c[-1], lambda x: x >> used == 0, "failure")
            if size == 4:
                run.expect_table(fail, c[-1], lambda x: np.where(x >> used == 0, 0, -1), "failure")
        elif fail.value != 0:
            raise NotProved("a failure is noted")

    return prove


def expect_trits(run: Run, words: Words, record: Words, what: str) -> None:
    """Raises NotProved unless words are the digits of bytes to base 3, the lowest five of each, and the last is 0."""
    for i, word in enumerate(words[:-1]):
        run.expect_table(word, record[i // 5], DIGITS[i % 5], f"coefficient {i} of {what}")
    if words[-1].value != 0:
        raise NotProved(f"the last coefficient of {what} is not zero")


DIGITS = [lambda x, power=3 ** j: x // power % 3 for j in range(5)]


def packed_trits(backend: Backend, n: int) -> Proof:
    """pack_rm: five trits a byte, of a and of b. [NTRU20, pack_S3]"""

    def prove(library: Library, function: str) -> None:
        keep_sums_whole()
        run = Run(library, 3)
        state, count = State(run, backend, n), -(-(n - 1) // 5)
        polys = [state.trits("a"), state.trits("b")]
        run.machine.call(function, state.address)
        first = max(state.touched_beyond()) + 1 - 2 * count * backend.lanes
        if backend.has_bytes:  # Item::rm follows the polynomials
            first = state.work + state.fields["end"][0]
        record = state.get_record(first, 2 * count, 2 * count)
        for which, poly in enumerate(polys):
            for at in range(count):
                expect_byte_of_trits(run, record[which * count + at], poly, at, f"byte {at} of {which}")

    return prove


def expect_byte_of_trits(run: Run, byte: Term, poly: Words, at: int, what: str) -> None:
    """Raises NotProved unless a byte is the sum of 3^j times trit j of its five, or fewer at the end. Where pairs of
    bytes are words, it could depend on the byte before it."""
    own = poly[5 * at:min(5 * at + 5, len(poly) - 1)]
    before = poly[5 * at - 5:5 * at] if shape(byte, own) is None else []
    run.expect_table(byte, [*before, *own], SUM_OF_TRITS[len(before)], what)


def sum_of_trits(before: int) -> Callable[..., Values]:
    return lambda *x: sum((3 ** j * trit for j, trit in enumerate(x[before:])), np.zeros_like(x[0]))


SUM_OF_TRITS = {before: sum_of_trits(before) for before in (0, 5)}


def sampled(backend: Backend, n: int) -> Proof:
    """sample_rm of HRSS: each coefficient of r and m is a byte mod 3, the last one 0. [NTRU20, Ternary]"""

    def prove(library: Library, function: str) -> None:
        run = Run(library, 3)
        state = State(run, backend, n)
        coins = run.space() if backend.lanes > 1 or backend.has_bytes else 0
        count = 2 * (n - 1)
        if coins:
            run.machine.memory.store(state.batch + 16, bytes_of(const(coins, 64)))
            if backend.lanes > 1:
                run.machine.memory.store(state.address + 32, bytes_of(const(coins, 64)))
                run.machine.memory.store(state.address + 40, bytes_of(const(count, 64)))
        else:
            coins = state.work + rounded_up(state.fields["end"][0], 4) + 4 * (n + 12)  # after Item::keys
        record = state.put_record(coins, count, "coins", count)
        run.machine.call(function, state.address)
        for name, at in (("a", 0), ("b", n - 1)):
            words = state.get(name)
            for i, word in enumerate(words[:-1]):
                run.expect_table(word, record[at + i], DIGITS[0], f"coefficient {i} of {name}")
            if words[-1].value != 0:
                raise NotProved(f"the last coefficient of {name} is not zero")

    return prove


def checked(backend: Backend, n: int) -> Proof:
    """check_rm: r from its residues, and a failure if one is none of 0, 1 and -1 or, in HPS, if m does not have
    q / 16 - 1 coefficients of each sign. [NTRU20, DPKE_Decrypt]"""

    def prove(library: Library, function: str) -> None:
        keep_sums_whole()
        run, bits = Run(library, WORD), LOG_Q[n]
        state = State(run, backend, n)
        z = state.residues("z", 0, (1 << bits) - 1, bits, ends_with_zero=True)
        trits = state.trits("b")[:-1] if n not in HRSS else []
        run.machine.call(function, state.address)
        lowest = Lowest()
        for i, (word, residue) in enumerate(zip(state.get("a"), z)):
            expect_ternary(lowest.of(word), residue, f"coefficient {i}")
        found = causes_of_failure(state)
        if any(other != found[0] for other in found):
            raise NotProved("failures of items are not alike")
        expect_failure({lowest.of(cause): cause for cause in found[0]}, z[:-1], trits, (1 << bits) // 16 - 1)

    return prove


def causes_of_failure(state: State) -> list[set[Term]]:
    """Returns for each item what its failure is noted for, beside one that was noted before: the last bytes of the
    working memory that are used."""
    lanes, result = state.backend.lanes, []
    size = 2 if lanes > 1 else 4
    first = max(state.touched_beyond()) + 1 - size * lanes
    for item in range(lanes):
        fail = first + size * item
        noted = [without(state.run.result(at, 0, 8), variable(f"byte {at:#x}", 8)) for at in range(fail, fail + size)]
        whole = concat(*reversed(noted))
        result.append(causes(Lane(item).of(whole) if lanes > 1 else whole))
    return result


def without(term: Term, before: Term) -> Term:
    """Returns a term whose disjunction with another one is the given one."""
    if term is before:
        return const(0, term.width)
    if term.op == "or":
        for a, b in (term.args, term.args[::-1]):
            if a is before or a.op == "or" and before in a.args:
                return bitwise("or", without(a, before), b)
    raise NotProved("a failure before does not stay one")


def expect_ternary(word: Term, residue: Term, what: str) -> None:
    """Raises NotProved unless a word is 0, 1, 2 for 0, 1, -1 mod q."""
    if residue.value is not None:
        right = word.value == residue.value
    else:
        minus_one = (1 << residue.width) - 1
        values = evaluate(word, {residue: np.array([0, 1, minus_one], dtype=np.uint64)})
        right = values.tolist() == [0, 1, 2]
    if not right:
        raise NotProved(f"{what} is not the ternary form of its residue")


def expect_failure(found: dict[Term, Term], residues: Words, trits: Words, weight: int) -> None:
    """Raises NotProved unless the causes of a failure are that a residue is none of 0, 1 and -1, or that there are more
    or fewer trits than the weight that are 1, or that are 2. Causes, of fewest bits, are given with their first
    forms, in which sums have all of their bits."""
    of_residue: dict[Term, list[Term]] = {residue: [] for residue in residues}
    only, sums = Only(of_residue), []
    for cause, first_form in found.items():
        residue = only.of(cause)
        if residue is None:
            sums.append(first_form)
        else:
            of_residue[residue].append(cause)
    for residue, own in of_residue.items():
        values = np.arange(1 << residue.width, dtype=np.int64)
        bad = sum((evaluate(cause, {residue: values.astype(np.uint64)}) != 0 for cause in own), values < 0)
        if np.any((bad != 0) != ((values > 1) & (values < len(values) - 1))):
            raise NotProved(f"a failure is not noted of some values of {residue}, or of others")
    expect_weights(sums, trits, weight)


def expect_weights(differences: Words, trits: Words, weight: int) -> None:
    """Raises NotProved unless the terms compare all bits of the numbers of ones and of twos among the trits with those
    of the weight."""
    compared: dict[Term, int] = {}
    for term in differences:
        total, low, expected = compared_bits(term)
        ones = (1 << term.width) - 1
        if expected != weight >> low & ones:
            raise NotProved(f"a failure depends on {term}")
        compared[total] = compared.get(total, 0) | ones << low
    if any((1 << total.most.bit_length()) - 1 & ~bits or weight & ~bits for total, bits in compared.items()):
        raise NotProved("a failure depends on a part of a sum")
    if sorted(counted(total, trits) for total in compared) != ([1, 2] if trits else []):
        raise NotProved("a failure does not depend on both weights alone")


def compared_bits(difference: Term) -> tuple[Term, int, int]:
    """Returns a term, the first of its bits and the bits that those from there on are xored with."""
    low, other = 0, 0
    term = difference
    while term.op == "extract" or term.op == "xor" and term.args[1].value is not None:
        if term.op == "extract":
            low += term.extra[1]  # type: ignore[index]
        else:
            other ^= term.args[1].value >> low  # type: ignore[operator]
        term = term.args[0]
    return term, low, other & (1 << difference.width) - 1


def counted(total: Term, trits: Words) -> int:
    """Returns 1 or 2 if a term is the number of trits that are 1, or 2."""
    parts: dict[Term | None, list[Term]] = {trit: [] for trit in trits}
    only = Only(trits)
    for part in exact_summands(total):
        parts.setdefault(only.of(part), []).append(part)
    if None in parts:
        raise NotProved("a sum has a part that depends on several trits")
    values = np.arange(3, dtype=np.uint64)
    sums = {tuple(sum((evaluate(part, {trit: values}) for part in own), np.zeros(3, dtype=np.uint64)).tolist())
            for trit, own in parts.items()}
    if sums not in ({(0, 1, 0)}, {(0, 0, 1)}):
        raise NotProved("a sum is no number of ones or twos")
    return sums.pop().index(1)


def exact_summands(total: Term) -> Words:
    """Returns terms whose unsigned integers have the sum that the given one stands for."""
    result, stack = [], [total]
    while stack:
        term = stack.pop()
        if term.op == "add" and sum(arg.most for arg in term.args) < 1 << term.width:
            stack += term.args
        elif term.op == "concat" and len(term.args) == 2 and term.args[0].value == 0:
            stack.append(term.args[1])
        elif term.op == "extract" and term.extra[1] == 0 and term.args[0].most < 1 << term.width:  # type: ignore[index]
            stack.append(term.args[0])
        elif term.value != 0:
            result.append(term)
    return result


def selected(backend: Backend, n: int) -> Proof:
    """select: K, or the rejection secret if a failure was noted. Its place in the working memory is found by a run.
    [NTRU20, Decapsulate]"""

    def prove(library: Library, function: str) -> None:
        items = max(backend.lanes, 2)

        def ready(run: Run) -> tuple[State, list[Words]]:
            state = State(run, backend, n, 1 if backend.lanes > 1 else items)
            run.machine.alike = False
            return state, [run.unknown(f"k{item}", 32, 0, 255, 8, at=state.records + 32 * item).words
                           for item in range(items)]

        state, _ = ready(Run(library, 3))
        state.run.machine.call(function, state.address)
        secrets_at, fails_at, size = places_of_secrets(state, items)
        run = Run(library, 3)
        state, secrets = ready(run)
        rejections = [run.unknown(f"rejection{item}", 32, 0, 255, 8, at=at).words for item, at in enumerate(secrets_at)]
        fails = [variable(f"fail{item}", 16 if size == 2 else 1) for item in range(items)]
        for fail, at in zip(fails, fails_at):
            run.machine.memory.store(at, bytes_of(sext(fail, 8 * size)))
        run.machine.call(function, state.address)
        for item, fail in enumerate(fails):
            passes = compare("eq", fail, const(0, fail.width))
            for at, (secret, rejection) in enumerate(zip(secrets[item], rejections[item])):
                run.expect_same(run.result(state.records + 32 * item, at, 8), ite(passes, secret, rejection),
                                f"byte {at} of item {item}")

    return prove


def places_of_secrets(state: State, items: int) -> tuple[list[int], list[int], int]:
    """Returns the addresses of rejection secrets and failures, and the size of these, from what a run has read."""
    places, size = state.touched_beyond(), 2 if state.backend.lanes > 1 else 4
    if len(places) != (32 + size) * items:
        raise NotProved("other words are read")
    if size == 2:  # all secrets, then all failures
        return places[:32 * items:32], places[32 * items::size], size
    return places[::32 + size], places[32::32 + size], size


# These are proved for both n of SHORT by default, the others for the first one. mul_m, whose bound grows with n, is
# proved for all.
QUICK = ("mod 3", "lift_add", "sample_rm", "check_rm")


def claims() -> Iterator[Claim]:
    """Yields what is claimed of NTRU's steps."""
    for backend in (REF, AVX2, AVX512, *BLOCKS):
        for n in LOG_Q:
            for name, stage, inputs, result, proof in claimed(backend, n):
                symbol = f"{backend.steps}IX*Lm{n}E*{len(stage)}{stage}E*"
                is_quick = n == SHORT[0] or name == "mul_m" or n == SHORT[1] and name in QUICK
                yield Claim(f"ntru {backend.name} {name} {n}", symbol, inputs, result, proof, is_long=not is_quick)


def claimed(backend: Backend, n: int) -> Iterator[tuple[str, str, str, str, Proof]]:
    """Yields name, step, inputs, result and proof of what is claimed of a backend and an n; ntru.py has some of ref."""
    if backend is not REF:
        yield ("mod 3", "reduce_cf", "any words", f"words mod 2^{LOG_Q[n]}, around zero, mod (3, Phi_{n}), in [0, 2]",
               reduced(backend, n))
        yield "pack", "store_c", "any words", "the bits of n - 1 words, in order", packed(backend, n)
        yield ("unpack", "load_h", "any bytes", "n - 1 words with their bits, in order, and minus the sum of these",
               unpacked(backend, n))
        yield "pack trits", "pack_rm", "words in [0, 2]", "sums of 3^j word j", packed_trits(backend, n)
    if backend in (REF, AVX512):
        yield ("mul_m", "mul_m", f"any product in [0, {4 * n}]", f"it mod (3, Phi_{n}), in [0, 2]",
               ternary_product(backend, n))
    if n in HRSS:
        yield "sample_rm", "sample_rm", "any bytes", "each of them mod 3", sampled(backend, n)
    for stage, sign in (("lift_add", 1), ("lift_sub", -1)):
        yield (stage, stage, "words, and m in [0, 2]", f"words {'plus' if sign > 0 else 'minus'} Lift(m), mod 2^16",
               lifted(backend, n, sign))
    for stage in ("mul_hr", "mul_cf"):
        yield (stage, stage, "words, and a in [0, 2]", "the product of words and a, with -1 for 2",
               multiplied(backend, n))
    yield "mod Phi", "mul_r", "any product", "coefficients minus the last one", without_last(backend, n)
    yield ("check_rm", "check_rm", "any words, and m in [0, 2]",
           "r, and a failure if r is not ternary" + ("" if n in HRSS else " or m has another weight"),
           checked(backend, n))
    yield "select", "select", "any bytes", "K, or the rejection secret after a failure", selected(backend, n)
    yield "load_c_sk", "load_c_sk", "any bytes", "c, f, 1/f, 1/h, and whether c is padded", loaded(backend, n)
