# SPDX-License-Identifier: Apache-2.0
"""ML-KEM's, FrodoKEM's and NTRU's arithmetic on the Cortex-M4, in the ranges of src/prim/ntt/cortex_m4/ntt_m4.hpp,
src/schemes/mlkem/cortex_m4/poly_m4.hpp and the headers beside those of the other primitives."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from proofs.algebra.decisions import causes
from proofs.algebra.evaluation import evaluate
from proofs.algebra.facts import Form, NotProved, OtherResult
from proofs.algebra.terms import Term, concat, const, extract, keep_sums_whole, shape, variable, zext
from proofs.claims import ANY_WORD, Array, Claim, Proof, Run, Values
from proofs.families import frodo, packing, selection
from proofs.families.mlkem import (N, Q, _gamma, binomial, compressed_and_packed, inverse, linear, transform,
                          unpacked_and_decompressed)
from proofs.families.ntru import EXACT_BITS, LOG_Q, expect_cyclic, words_of
from proofs.machines.memory import Library, bytes_of

BEFORE, PRODUCT = (-20000, 20000), (-2500, 2500)  # of the transform, and of its inverse
AFTER = (BEFORE[0] - 7 * Q // 2, BEFORE[1] + 7 * Q // 2)
REDUCED = (-(Q // 2), Q // 2)
ROW = 640  # words of FrodoKEM-640's wide matrices


def gamma_products(library: Library, function: str) -> None:
    """products[i] = gamma_i b[2 i + 1]. [FIPS203, Alg 11, L2]"""
    run = Run(library, Q)
    products, b = run.space(), run.unknown("b", N, *ANY_WORD)
    run.machine.call(function, products, b.address)
    for i in range(N // 2):
        run.expect(run.result(products, i), {(b.first + 2 * i + 1,): _gamma(i)}, *REDUCED, f"product {i}")


def products_with(terms: int) -> Proof:
    """c = the sum of the products of `terms` transforms, where gamma times odd coefficients of b are given.
    [FIPS203, Alg 12]"""

    def prove(library: Library, function: str) -> None:
        run = Run(library, Q)
        c, a, b = run.space(), run.unknown("a", N * terms, 0, 4095), run.unknown("b", N * terms, *AFTER)
        given = run.unknown("g", N // 2 * terms, *REDUCED)
        run.machine.call(function, c, a.address, b.address, given.address)
        for n in range(N):
            form: Form = {}
            for at in range(n // 2 * 2, N * terms, N):
                if n % 2 == 0:
                    form |= {(a.first + at, b.first + at): 1, (a.first + at + 1, given.first + at // 2): 1}
                else:
                    form |= {(a.first + at, b.first + at + 1): 1, (a.first + at + 1, b.first + at): 1}
            run.expect(run.result(c, n), form, *PRODUCT, f"coefficient {n}")

    return prove


def sums(factor: int) -> Proof:
    """a = a + factor b mod 2^16."""

    def prove(library: Library, function: str) -> None:
        run = Run(library, 1 << 16)
        a, b = run.unknown("a", N, *ANY_WORD), run.unknown("b", N, *ANY_WORD)
        run.machine.call(function, a.address, b.address)
        _expect_sums(run, a, [{(b.first + n,): factor % (1 << 16)} for n in range(N)])

    return prove


def _expect_sums(run: Run, a: Array, added: list[Form]) -> None:
    """Raises NotProved unless each word of a has become the sum with a form mod 2^16."""
    for n, form in enumerate(added):
        run.expect(run.result(a.address, n), {(a.first + n,): 1} | form, -(1 << 16), 1 << 16, f"word {n}")


def added_message(library: Library, function: str) -> None:
    """a = a + Decompress_1(m) mod 2^16. [FIPS203, Alg 14, L20]"""
    run = Run(library, 1 << 16)
    a, bits = run.unknown("a", N, *ANY_WORD), run.stream("m", N, 1)
    run.machine.call(function, a.address, bits.address)
    _expect_sums(run, a, [{(bits.first + n,): (Q + 1) // 2} for n in range(N)])


def added_noise(library: Library, function: str) -> None:
    """a = a + SamplePolyCBD_2 mod 2^16. [FIPS203, Alg 8]"""
    run = Run(library, 1 << 16)
    a, bits = run.unknown("a", N, *ANY_WORD), run.stream("b", 4 * N, 1)
    run.machine.call(function, a.address, bits.address)
    _expect_sums(run, a, [{(bits.first + 4 * n + i,): 1 if i < 2 else (1 << 16) - 1 for i in range(4)}
                          for n in range(N)])


def noise(eta: int) -> Proof:
    """[FIPS203, Alg 8], signed."""

    def prove(library: Library, function: str) -> None:
        run = Run(library, Q)
        a, bits = run.space(), run.stream("b", 2 * eta * N, 1)
        run.machine.call(function, a, bits.address)
        for n in range(N):
            run.expect_table(run.result(a, n), bits.words[2 * eta * n:2 * eta * (n + 1)], binomial, f"word {n}")

    return prove


def encoded(library: Library, function: str) -> None:
    """Words mod q become fields of 12 bits. [FIPS203, Alg 5]"""
    run = Run(library, Q)
    out, a = run.space(), run.unknown("a", N, *ANY_WORD)
    run.machine.call(function, out, a.address)
    for n, word in enumerate(a.words):
        run.expect_table(run.field(out, n, 12), word, _canonical, f"field {n}")


def _canonical(x: Values) -> Values:
    return x % Q


def is_valid(library: Library, function: str) -> None:
    """The result is 0 if and only if all fields are below q. [FIPS203, 7.2]"""
    run = Run(library, Q)
    fields = run.stream("a", N, 12)
    run.machine.call(function, run.space(), fields.address)
    left: dict[Term, int] = {field: n for n, field in enumerate(fields.words)}
    for cause in causes(run.machine.general[0]):  # type: ignore[attr-defined]
        found = [field for field in left if field in _variables(cause)]
        if len(found) != 1:
            raise NotProved(f"{cause} is not of one field")
        run.expect_table(cause, found[0], _is_too_large, f"field {left.pop(found[0])}")
    if left:
        raise NotProved(f"{len(left)} fields are not looked at")


def _is_too_large(x: Values) -> Values:
    return x >= Q


def _variables(term: Term) -> set[Term]:
    found, stack = set(), [term]
    while stack:
        top = stack.pop()
        if top not in found:
            found.add(top)
            stack += top.args
    return found


def matrices(rows: int, inner: int, columns: int, strides: tuple[int, int, int], transposed: bool) -> Proof:
    """c += a b mod 2^16, with b given as its transpose or not; the strides are of c, a and b."""

    def prove(library: Library, function: str) -> None:
        run = Run(library, 1 << 16)
        heights = (rows, rows, columns if transposed else inner)
        c, a, b = (run.unknown(name, height * stride, *ANY_WORD)
                   for name, height, stride in zip("cab", heights, strides))
        run.machine.call(function, c.address, strides[0], a.address, strides[1], b.address, strides[2],
                         (rows, inner, columns, 1, 0, 0))
        for row in range(rows):
            for column in range(columns):
                at = row * strides[0] + column
                form: Form = {(c.first + at,): 1}
                for i in range(inner):
                    of_b = column * strides[2] + i if transposed else i * strides[2] + column
                    form[(a.first + row * strides[1] + i, b.first + of_b)] = 1
                run.expect(run.result(c.address, at), form, -(1 << 16), 1 << 16, f"row {row}, column {column}")

    return prove


def product(n: int) -> Proof:
    """mul_cyclic(): a b modulo (2^13, x^n - 1), in [0, 2^13)."""

    def prove(library: Library, function: str) -> None:
        keep_sums_whole()
        run = Run(library, 1 << 16)
        c, a, b = run.space(), run.unknown("a", n, *ANY_WORD), run.unknown("b", n, *ANY_WORD)
        run.machine.call(function, c, a.address, b.address, run.workspace(4 * (-(-n // 64) * 2 * 104)))
        results, bits = [run.result(c, k) for k in range(n)], EXACT_BITS[n]
        if any(result.most >> bits for result in results):
            raise NotProved(f"a result has more than {bits} bits")
        expect_cyclic(words_of(a, b), results, bits)

    return prove


def packed(n: int) -> Proof:
    """The lowest bits of all coefficients but the last one. [NTRU20, pack_Sq]"""

    def prove(library: Library, function: str) -> None:
        run, bits = Run(library, 1 << 16), LOG_Q[n]
        out, c = run.space(), run.unknown("c", n, *ANY_WORD)
        run.machine.call(function, out, c.address)
        for at in range(-(-(n - 1) * bits // 8)):
            parts = (divmod(bit, bits) for bit in range(8 * at + 7, 8 * at - 1, -1))
            expected = concat(*(extract(c.words[i], bit, bit) if i < n - 1 else const(0, 1) for i, bit in parts))
            run.expect_same(run.result(out, at, 8), expected, f"byte {at}")

    return prove


def unpacked(n: int) -> Proof:
    """Coefficients from their bits; the last one makes the sum zero. [NTRU20, unpack_Rq0]"""

    def prove(library: Library, function: str) -> None:
        keep_sums_whole()
        run, bits = Run(library, 1 << 16), LOG_Q[n]
        c, packed_words, fields = run.space(), run.space(), run.fields("h", n - 1, bits)
        padding = run.fields("padding", 1, 8).words[0]
        for first in range(0, n - 1, 8):
            whole = concat(*reversed(fields.words[first:first + 8]))
            whole = concat(extract(padding, 7 - whole.width % 8, 0), whole) if whole.width % 8 else whole
            run.machine.memory.store(packed_words + first * bits // 8, bytes_of(whole))
        run.machine.call(function, c, packed_words)
        for i, field in enumerate(fields.words):
            run.expect_same(run.result(c, i), zext(field, 16), f"coefficient {i}")
        minus_sum = {(fields.first + i,): (1 << 16) - 1 for i in range(n - 1)}
        run.expect(run.result(c, n - 1), minus_sum, -(1 << 16), 1 << 16, "the last coefficient")

    return prove


def packed_trits(n: int) -> Proof:
    """Five trits a byte. [NTRU20, pack_S3]"""

    def prove(library: Library, function: str) -> None:
        run = Run(library, 257)  # above all bytes: a byte that is congruent to one is that byte
        out, c = run.space(), run.unknown("c", n, 0, 2)
        run.machine.call(function, out, c.address)
        for at in range(-(-(n - 1) // 5)):
            form = {(c.first + k,): 3 ** (k - 5 * at) for k in range(5 * at, min(5 * at + 5, n - 1))}
            run.expect(run.result(out, at, 8), form, 0, 255, f"byte {at}")

    return prove


def unpacked_trits(n: int) -> Proof:
    """The lowest five digits to the base 3 of each byte; the last coefficient is 0. [NTRU20, unpack_S3]"""

    def prove(library: Library, function: str) -> None:
        run = Run(library, 3)
        c, data = run.space(), run.unknown("b", -(-(n - 1) // 5), 0, 255, 8)
        run.machine.call(function, c, data.address)
        for k in range(n - 1):
            run.expect_table(run.result(c, k), data.words[k // 5], DIGITS[k % 5], f"coefficient {k}")
        run.expect_same(run.result(c, n - 1), const(0, 16), "the last coefficient")

    return prove


def _digit(at: int) -> Callable[[Values], Values]:
    return lambda x: x // 3 ** at % 3


DIGITS = [_digit(at) for at in range(5)]


def reduced(n: int) -> Proof:
    """Coefficients mod q, around zero, mod (3, Phi_n), for every pair of a coefficient and the last one.
    [NTRU20, Rq_to_S3]"""

    def prove(library: Library, function: str) -> None:
        run, bits = Run(library, 3), LOG_Q[n]
        out, at = run.space(), run.space()
        words = [variable(f"z[{i}]", bits) for i in range(n)]
        for i, word in enumerate(words):
            whole = concat(variable(f"bits above z[{i}]", 16 - bits), word) if run.drawn is None else (
                const(run.drawn.getrandbits(16), 16))
            run.machine.memory.store(at + 2 * i, bytes_of(whole))
        run.machine.call(function, out, at)

        def centred(x: Values) -> Values:
            return x - ((x >> bits - 1) << bits)

        known: set[tuple] = set()
        for i in range(n):
            expect_of_pairs(run.result(out, i), words[i], words[-1], lambda x, y: (centred(x) - centred(y)) % 3, known,
                            f"coefficient {i}")

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


def less_the_last(n: int) -> Proof:
    """c - c[n - 1] Phi_n mod 2^16, in place."""

    def prove(library: Library, function: str) -> None:
        run = Run(library, 1 << 16)
        c = run.unknown("c", n, *ANY_WORD)
        run.machine.call(function, c.address)
        for i in range(n):
            form = {(c.first + i,): 1, (c.first + n - 1,): (1 << 16) - 1} if i < n - 1 else {}
            run.expect(run.result(c.address, i), form, -(1 << 16), 1 << 16, f"coefficient {i}")

    return prove


def _mlkem() -> Iterator[Claim]:
    ntt, poly = "_ZN7polykem9cortex_m4", "_ZN7polykem5mlkem9cortex_m4"
    yield Claim("mlkem m4 transform", f"{ntt}11ntt_forwardEPt", "words in [-20000, 20000]",
                "the transform, in [-31651, 31651]", linear(transform, BEFORE, AFTER))
    yield Claim("mlkem m4 inverse", f"{ntt}11ntt_inverseEPt", "words in [-2500, 2500]",
                "the inverse, in [-q / 2, q / 2]", linear(lambda: inverse(1), PRODUCT, REDUCED))
    yield Claim("mlkem m4 gamma products", f"{ntt}14gamma_productsEPtPKt", "any words",
                "gamma times the odd ones, in [-q / 2, q / 2]", gamma_products)
    for terms in (2, 3, 4):
        yield Claim(f"mlkem m4 products, {terms}", f"{ntt}12ntt_multiplyILj{terms}E*",
                    "a below 2^12, b in [-31651, 31651], gamma products", "the sum of products, in [-2500, 2500]",
                    products_with(terms))
    yield Claim("mlkem m4 add", f"{poly}8poly_add*", "any words", "a + b mod 2^16", sums(1))
    yield Claim("mlkem m4 subtract", f"{poly}8poly_sub*", "any words", "a - b mod 2^16", sums(-1))
    yield Claim("mlkem m4 add message", f"{poly}11add_message*", "any words, bits", "a + Decompress_1(m) mod 2^16",
                added_message)
    yield Claim("mlkem m4 add noise, 2", f"{poly}8add_cbd2*", "any words, bytes", "a + SamplePolyCBD mod 2^16",
                added_noise)
    for eta in (2, 3):
        yield Claim(f"mlkem m4 noise, {eta}", f"{poly}15sample_poly_cbdILj{eta}E*", "any bytes",
                    "FIPS 203, Algorithm 8, signed", noise(eta))
    yield Claim("mlkem m4 encode", f"{poly}16poly_byte_encode*", "any words", "words mod q, FIPS 203, Algorithm 5",
                encoded)
    yield Claim("mlkem m4 decode", f"{poly}16poly_byte_decode*", "any bytes", "FIPS 203, Algorithm 6",
                packing.unpacked(12, 16))
    yield Claim("mlkem m4 validity", f"{poly}16poly_byte_decode*", "any bytes", "0 if and only if all are below q",
                is_valid)
    for bits in (1, 4, 5, 10, 11):
        yield Claim(f"mlkem m4 compress to {bits}", f"{poly}13poly_compressILj{bits}E*", "any words",
                    "FIPS 203, (4.7), packed", compressed_and_packed(bits, ANY_WORD))
        if bits > 1:
            yield Claim(f"mlkem m4 decompress from {bits}", f"{poly}15poly_decompressILj{bits}E*", "any bytes",
                        "FIPS 203, (4.8)", unpacked_and_decompressed(bits))


def _frodo() -> Iterator[Claim]:
    table, any_sum = "_ZN7polykem9cortex_m47kMatMulE", "c + a b mod 2^16"
    for rows, columns in ((8, 40), (2, ROW)):
        yield Claim(f"frodo m4 product {rows}x4x{columns}", f"{table}[0]", "any words", any_sum,
                    matrices(rows, 4, columns, (ROW, 6, ROW), False))
    for rows, inner, columns in ((4, 64, 8), (8, 46, 8)):
        yield Claim(f"frodo m4 product {rows}x{inner}x{columns}, transposed", f"{table}[1]", "any words", any_sum,
                    matrices(rows, inner, columns, (columns, inner + 2, inner), True))
    scope = "_ZN7polykem5frodo3ref"
    for count in (64, 100):
        yield Claim(f"frodo m4 sample {count} errors of 640", f"{scope}6sample*", "any words", "Algorithm 5",
                    frodo.sampled(640, count))
    for count in (64, 120):
        yield Claim(f"frodo m4 pack {count} words of 15 bits", f"{scope}4pack*", "any words",
                    "their low bits, in order", frodo.packed(count, 15))
        yield Claim(f"frodo m4 unpack {count} words of 15 bits", f"{scope}6unpackEPt*", "any bytes",
                    "words with their bits, in order", frodo.unpacked(count, 15))


def _ntru() -> Iterator[Claim]:
    for n in (509, 677, 701, 821):
        yield Claim(f"ntru m4 product {n}", f"_ZN7polykem9cortex_m410mul_cyclicILj{n}E*", "any words",
                    f"a b mod (2^13, x^{n} - 1)", product(n), is_long=n != 509)
        for name, inputs, result, proof in (
                ("pack", "any words", "the bits of n - 1 words, in order", packed(n)),
                ("unpack", "any bytes", "n - 1 words with their bits, in order, and minus the sum of these",
                 unpacked(n)),
                ("pack trits", "words in [0, 2]", "sums of 3^j word j", packed_trits(n)),
                ("unpack trits", "any bytes", "digits to the base 3", unpacked_trits(n)),
                ("mod q", "any words", f"mod (2^16, Phi_{n})", less_the_last(n)),
                ("mod 3", "any words", f"words mod q, around zero, mod (3, Phi_{n}), in [0, 2]", reduced(n))):
            yield Claim(f"ntru m4 {name} {n}", f"m4_ntru_{name.replace(' ', '_')}_{n}", inputs, result, proof,
                        inlined=True, is_long=name == "mod 3" and n != 509)


def _selection() -> Iterator[Claim]:
    yield Claim("ct m4 mask of a word", "portable_ct_nonzero", "any word", "all ones if it is not 0, else 0",
                selection.nonzero, inlined=True)
    for count in selection.CIPHERTEXTS:
        yield Claim(f"ct m4 compare {count}", "portable_ct_different", "any bytes", "all ones if they differ, else 0",
                    selection.different(count), inlined=True)
    yield Claim("ct m4 select", "portable_ct_select", "16, 24 or 32 bytes, and a mask", "the bytes that it selects",
                selection.select, inlined=True)


def claims() -> Iterator[Claim]:
    """Yields what is claimed of the code for the Cortex-M4."""
    yield from _mlkem()
    yield from _frodo()
    yield from _ntru()
    yield from _selection()
