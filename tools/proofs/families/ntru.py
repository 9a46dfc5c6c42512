# SPDX-License-Identifier: Apache-2.0
"""NTRU's products modulo x^n - 1 and modulo (3, Phi_n), as src/prim/polymul defines them, and the portable code that
packs, unpacks and reduces polynomials, in src/schemes/ntru/ref."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from proofs.algebra.bilinear import BITS, FIRST, SECOND, Forms, Leaf
from proofs.algebra.evaluation import evaluate
from proofs.algebra.facts import Form, NotProved, OtherResult
from proofs.algebra.ranges import Facts
from proofs.algebra.terms import Term, concat, const, extract, keep_sums_whole, shape, variable, zext
from proofs.claims import ANY_WORD, LANES, Array, Claim, Proof, Run, Values
from proofs.machines.memory import Library, bytes_of

EXACT_BITS = {509: 13, 677: 13, 701: 13, 821: 13, 1229: 12, 1373: 14}  # PolymulFunctions::exact_bits
SINGLE_EXACT_BITS = {509: 13, 677: 13, 701: 13, 821: 13, 1229: 13, 1373: 15}  # exact_bits_single
SHORT = (509, 701)  # one HPS, one HRSS


def words_of(a: Array, b: Array) -> Leaf:
    """Returns which terms are words of a and which of b."""
    of = {word: (side, n) for side, array in ((FIRST, a), (SECOND, b)) for n, word in enumerate(array.words)}
    return of.get


def expect_cyclic(leaf: Leaf, results: Sequence[Term], bits: int) -> None:
    """Raises NotProved unless the results are the product a b modulo (2^bits, x^n - 1)."""
    n = len(results)
    i, k = np.meshgrid(np.arange(n), np.arange(n), indexing="ij")
    Forms(leaf).expect(results, (n, n), bits, (k - i) % n, np.ones((n, n)))


def field(library: Library, table: str, n: int) -> int:
    """Returns word n, of 64 bits, of an object of the library."""
    return int.from_bytes(library.read(library.objects[table] + 8 * n, 8) or b"", "little")


def portable(n: int) -> Proof:
    """poly_mul_cyclic()"""

    def prove(library: Library, function: str) -> None:
        keep_sums_whole()
        run = Run(library, 1 << BITS)
        c, a, b = run.space(), run.unknown("a", n, *ANY_WORD), run.unknown("b", n, *ANY_WORD)
        run.machine.call(function, c, a.address, b.address, n)
        expect_cyclic(words_of(a, b), [run.result(c, k) for k in range(n)], BITS)

    return prove


def of_block(n: int, lanes: int) -> Proof:
    """LaneMul::mul_cyclic, for any one item."""

    def prove(library: Library, function: str) -> None:
        keep_sums_whole()
        run = Run(library, 1 << BITS)
        c, a, b = run.space(), run.unknown_lanes("a", n, lanes), run.unknown_lanes("b", n, lanes)
        workspace = run.workspace(field(library, function.partition("[")[0], 3))
        run.machine.call(function, c, a.address, b.address, workspace)
        for part in range(run.parts(lanes)):
            of_part = [Array(array.address, 0, array.words[part * n:(part + 1) * n]) for array in (a, b)]
            results = [run.lane(c, k, lanes, part=part) for k in range(n)]
            expect_cyclic(words_of(*of_part), results, EXACT_BITS[n])

    return prove


def of_single(n: int) -> Proof:
    """LaneMul::mul_cyclic_single"""

    def prove(library: Library, function: str) -> None:
        keep_sums_whole()
        run = Run(library, 1 << BITS)
        c, a, b = run.space(), run.unknown("a", n, *ANY_WORD), run.unknown("b", n, *ANY_WORD)
        workspace = run.workspace(field(library, function.partition("[")[0], 4))
        run.machine.call(function, c, a.address, b.address, workspace)
        expect_cyclic(words_of(a, b), [run.result(c, k) for k in range(n)], SINGLE_EXACT_BITS[n])

    return prove


TERNARY = np.array([0, 1, 2, (1 << 16) - 1], dtype=np.int64)  # the last one stands for 2, too


def ternary_words(run: Run, a: Array, b: Array) -> Leaf:
    """Returns which terms have the values 0, 1, 2, 2 where a word of a or of b has the four values of a ternary one."""
    of = {word: (side, n) for side, array in ((FIRST, a), (SECOND, b)) for n, word in enumerate(array.words)}
    found: dict[Term, tuple[int, int] | None] = {}
    only: dict[Term, Term | None] = {}  # the one word that a term depends on

    def source(term: Term) -> Term | None:
        if term not in only:
            sources = {source(arg) for arg in term.args if arg.value is None}
            only[term] = term if term in of else sources.pop() if len(sources) == 1 else None
        return only[term]

    def leaf(term: Term) -> tuple[int, int] | None:
        if term not in found:
            word = source(term)
            found[term] = None
            if word is not None:
                values = evaluate(term, {word: TERNARY.astype(np.uint64)})
                found[term] = of[word] if values.tolist() == [0, 1, 2, 2] else None
        return found[term]

    return leaf


def ternary(n: int) -> Proof:
    """LaneMul::mul_s3_single. The product of the words 0, 1, 2 is known mod 2^13 or more, and coefficients are at most
    4 n: these bits of it are the integers themselves, of which the result is then found mod 3."""

    def prove(library: Library, function: str) -> None:
        keep_sums_whole()
        run = Run(library, 3)
        c, a, b = run.space(), run.unknown("a", n, *ANY_WORD), run.unknown("b", n, *ANY_WORD)
        if run.drawn is not None:
            for array in (a, b):
                for at in range(n):
                    word = bytes_of(const(int(run.drawn.choice(TERNARY)), 16))
                    run.machine.memory.store(array.address + 2 * at, word)
        workspace = run.workspace(field(library, function.partition("[")[0], 4))
        run.machine.call(function, c, a.address, b.address, workspace)
        results = [run.result(c, k) for k in range(n)]
        products = lowest_bits_in(results)
        bits = min(product.width for product in products)
        if 4 * n >= 1 << bits:
            raise NotProved(f"{bits} bits are too few for coefficients up to {4 * n}")
        expect_cyclic(ternary_words(run, a, b), [product.args[0] for product in products], bits)
        facts = Facts(3)
        for product in products:
            facts.assume(product, 0, 4 * n)
        for k, result in enumerate(results):
            fact = facts.fact(result)
            form = facts.combine(facts.of[products[k]].form, facts.of[products[n - 1]].form, -1)
            if fact.form != form or not 0 <= fact.low <= fact.high <= 2:
                raise NotProved(f"coefficient {k} is not the difference of two of the product, mod 3")

    return prove


def lowest_bits_in(results: Sequence[Term]) -> list[Term]:
    """Returns the coefficients of the product of which the results are made, in order: the lowest bits of a sum, alone
    in result k or beside those of the last coefficient."""
    found: list[set[Term]] = []
    for result in results:
        parts, stack, done = set(), [result], set()
        while stack:
            term = stack.pop()
            if term in done:
                continue
            done.add(term)
            whole = term.args[0] if term.op == "extract" and term.extra[1] == 0 and term.width < 16 else term
            # A sum of two zero-extended words is a step of the reduction mod 3.
            if whole is not term and whole.op in ("add", "sub") and any(arg.op != "concat" for arg in whole.args):
                parts.add(term)
            else:
                stack += term.args
        found.append(parts)
    last = set.intersection(*found)
    others = [parts - last for parts in found]
    if [len(last), *map(len, others)] != [1] * len(results) + [0]:
        raise NotProved("results are not made of one coefficient each, and the last one")
    return [*(part for parts in others for part in parts), *last]


LOG_Q = {509: 11, 677: 11, 701: 13, 821: 12, 1229: 12, 1373: 14}
FIELDS = ("a", "b", "inverse_f", "x", "y", "z", "u", "v", "w")  # of ref::Item, each a polynomial
PRIME = 257  # above all bytes: a byte that is congruent to one is that byte


class Item:
    """A state of one item, src/schemes/ntru/ref. Its records are arrays of their own, or all the same one."""

    def __init__(self, run: Run, n: int) -> None:
        self.run, self.n = run, n
        self.items = run.workspace(1 << 16)
        self.records = run.workspace(1 << 14)
        batch = run.pointers(1, 0, *[self.records] * 30)
        self.chunk = run.pointers(batch, self.items, 0)

    def at(self, name: str) -> int:
        return self.items + 2 * self.n * FIELDS.index(name)


def stored(n: int) -> Proof:
    """store_h: the lowest bits of all coefficients but the last one. [NTRU20, pack_Sq]"""

    def prove(library: Library, function: str) -> None:
        run, bits = Run(library, PRIME), LOG_Q[n]
        item = Item(run, n)
        words = run.unknown("z", n, *ANY_WORD, at=item.at("z")).words
        run.machine.call(function, item.chunk)
        for at in range(-(-(n - 1) * bits // 8)):
            parts = (divmod(bit, bits) for bit in range(8 * at + 7, 8 * at - 1, -1))
            expected = concat(*(extract(words[i], bit, bit) if i < n - 1 else const(0, 1) for i, bit in parts))
            run.expect_same(run.result(item.records, at, 8), expected, f"byte {at}")

    return prove


def loaded(n: int) -> Proof:
    """load_h: coefficients from their bits; the last one makes the sum zero. [NTRU20, unpack_Rq0]"""

    def prove(library: Library, function: str) -> None:
        keep_sums_whole()
        run, bits = Run(library, 1 << BITS), LOG_Q[n]
        item = Item(run, n)
        count = -(-(n - 1) * bits // 8)
        data = run.unknown("h", count, 0, 255, 8, at=item.records).words
        run.machine.call(function, item.chunk)
        for i in range(n - 1):
            parts = (divmod(bit, 8) for bit in range((i + 1) * bits - 1, i * bits - 1, -1))
            word = zext(concat(*(extract(data[at], bit, bit) for at, bit in parts)), 16)
            run.expect_same(run.result(item.at("x"), i), word, f"coefficient {i}")
        words = [run.result(item.at("x"), i) for i in range(n)]
        total: Form | None = {}
        facts = Facts(1 << BITS)
        for word in words[:-1]:
            facts.assume(word, 0, (1 << bits) - 1)
            total = facts.combine(total, facts.of[word].form, -1)
        if facts.fact(words[-1]).form != total:
            raise NotProved("the sum of the coefficients is not zero")

    return prove


def packed_trits(n: int) -> Proof:
    """pack_rm: five trits a byte. [NTRU20, pack_S3]"""

    def prove(library: Library, function: str) -> None:
        run = Run(library, PRIME)
        item = Item(run, n)
        count, coins = -(-(n - 1) // 5), 2 * len(FIELDS) * n
        polys = [run.unknown(name, n, 0, 2, at=item.at(name)) for name in "ab"]
        run.machine.call(function, item.chunk)
        written = [at for at in run.machine.memory.written if item.items + coins <= at < item.items + (1 << 16)]
        first = min(written)
        for which, poly in enumerate(polys):
            for at in range(count):
                form = {(poly.first + k,): 3 ** (k - 5 * at) for k in range(5 * at, min(5 * at + 5, n - 1))}
                run.expect(run.result(first, which * count + at, 8), form, 0, 255, f"byte {at} of {which}")

    return prove


def reduced(n: int) -> Proof:
    """reduce_cf: coefficients mod q, around zero, mod (3, Phi_n), for every pair of a coefficient and the last one.
    [NTRU20, Rq_to_S3]"""

    def prove(library: Library, function: str) -> None:
        run, bits = Run(library, 3), LOG_Q[n]
        item = Item(run, n)
        words = []
        for i in range(n):
            if run.drawn is None:
                words.append(variable(f"z[{i}]", bits))
                word = concat(variable(f"bits above z[{i}]", 16 - bits), words[-1])
            else:
                word = const(run.drawn.getrandbits(16), 16)
            run.machine.memory.store(item.at("z") + 2 * i, bytes_of(word))
        run.machine.call(function, item.chunk)

        def centred(x: Values) -> Values:
            return x - ((x >> bits - 1) << bits)

        known: set[tuple] = set()
        for i in range(n):
            expect_of_pairs(run.result(item.at("a"), i), words[i], words[-1],
                            lambda x, y: (centred(x) - centred(y)) % 3, known, f"coefficient {i}")

    return prove


def expect_of_pairs(term: Term, a: Term, b: Term, expected: Callable[[Values, Values], Values], known: set[tuple],
                    what: str) -> None:
    """Raises NotProved unless a result is the expected function of two words, for all pairs of them. `known` are the
    shapes of terms for which that has been found."""
    found = shape(term, (a, b))
    if found is None:
        raise NotProved(f"{what} is no function of the two words")
    if found in known:
        return
    for y in np.split(np.arange(1 << b.width, dtype=np.int64)[:, None], max(1, (1 << b.width) // 64)):
        x = y if a is b else np.arange(1 << a.width, dtype=np.int64)
        values = evaluate(term, {a: x.astype(np.uint64), b: y.astype(np.uint64)}).astype(np.int64)
        if np.any(values != expected(x, y)):
            raise OtherResult(f"{what} is another function of two words")
    known.add(found)


def claims() -> Iterator[Claim]:
    """Yields what is claimed of NTRU."""
    for n in SHORT:
        yield Claim(f"ntru ref product {n}", "_ZN7polykem15poly_mul_cyclicEPtPKtS2_m", "any words",
                    f"a b mod (2^16, x^{n} - 1)", portable(n), is_long=n > 509)
    for n, bits in LOG_Q.items():
        stage = f"_ZN7polykem4ntru3ref8portable5Steps*Lm{n}E*13PortablePrimsEE"
        yield Claim(f"ntru ref pack {n}", f"{stage}7store_hE*", "any words", "the bits of n - 1 words, in order",
                    stored(n), is_long=n not in SHORT)
        yield Claim(f"ntru ref unpack {n}", f"{stage}6load_hE*", "any bytes",
                    "n - 1 words with their bits, in order, and minus the sum of these", loaded(n),
                    is_long=n not in SHORT)
        yield Claim(f"ntru ref pack trits {n}", f"{stage}7pack_rmE*", "words in [0, 2]", "sums of 3^j word j",
                    packed_trits(n), is_long=n not in SHORT)
        yield Claim(f"ntru ref mod 3 {n}", f"{stage}9reduce_cfE*", "any words",
                    f"words mod 2^{bits}, around zero, mod (3, Phi_{n}), in [0, 2]", reduced(n), is_long=n > 509)
    for isa, lanes in LANES.items():
        for n, bits in EXACT_BITS.items():
            table = f"_ZN7polykem7polymul{len(isa)}{isa}8kPolymulILm{n}EEE"
            yield Claim(f"ntru {isa} block product {n}", f"{table}[5]", "any words", f"a b mod (2^{bits}, x^{n} - 1)",
                        of_block(n, lanes), is_long=n > 509)
            yield Claim(f"ntru {isa} product {n}", f"{table}[7]", "any words",
                        f"a b mod (2^{SINGLE_EXACT_BITS[n]}, x^{n} - 1)", of_single(n), is_long=n > 701)
            yield Claim(f"ntru {isa} ternary product {n}", f"{table}[8]", "words 0, 1, 2 and 2^16 - 1",
                        f"a b mod (3, Phi_{n}), in [0, 2]", ternary(n), is_long=n > 509)
