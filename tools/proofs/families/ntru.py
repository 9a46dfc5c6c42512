# SPDX-License-Identifier: Apache-2.0
"""NTRU's products modulo x^n - 1 and modulo (3, Phi_n), as src/prim/polymul defines them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from proofs.algebra.bilinear import BITS, FIRST, SECOND, Forms, Leaf
from proofs.algebra.evaluation import evaluate
from proofs.algebra.facts import NotProved
from proofs.algebra.ranges import Facts
from proofs.algebra.terms import Term, const, keep_sums_whole
from proofs.claims import ANY_WORD, LANES, Array, Claim, Proof, Run
from proofs.machines.memory import Library, bytes_of

EXACT_BITS = {509: 13, 677: 13, 701: 13, 821: 13, 1229: 12, 1373: 14}  # PolymulFunctions::exact_bits
SINGLE_EXACT_BITS = {509: 13, 677: 13, 701: 13, 821: 13, 1229: 13, 1373: 15}  # exact_bits_single
LOG_Q = {509: 11, 677: 11, 701: 13, 821: 12, 1229: 12, 1373: 14}
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


def claims() -> Iterator[Claim]:
    """Yields what is claimed of NTRU."""
    for n in SHORT:
        yield Claim(f"ntru ref product {n}", "_ZN7polykem15poly_mul_cyclicEPtPKtS2_m", "any words",
                    f"a b mod (2^16, x^{n} - 1)", portable(n), is_long=n > 509)
    for isa, lanes in LANES.items():
        for n, bits in EXACT_BITS.items():
            table = f"_ZN7polykem7polymul{len(isa)}{isa}8kPolymulILm{n}EEE"
            yield Claim(f"ntru {isa} block product {n}", f"{table}[5]", "any words", f"a b mod (2^{bits}, x^{n} - 1)",
                        of_block(n, lanes), is_long=n > 509)
            yield Claim(f"ntru {isa} product {n}", f"{table}[7]", "any words",
                        f"a b mod (2^{SINGLE_EXACT_BITS[n]}, x^{n} - 1)", of_single(n), is_long=n > 701)
            yield Claim(f"ntru {isa} ternary product {n}", f"{table}[8]", "words 0, 1, 2 and 2^16 - 1",
                        f"a b mod (3, Phi_{n}), in [0, 2]", ternary(n), is_long=n > 509)
