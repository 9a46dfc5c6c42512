# SPDX-License-Identifier: Apache-2.0
"""ML-KEM's arithmetic mod 3329 as FIPS 203 defines it, in the ranges of src/prim/ntt/ntt.hpp and ntt_lanes.hpp."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from proofs.algebra.facts import Form
from proofs.claims import Claim, Proof, Run, Values
from proofs.families.packing import packed, unpacked
from proofs.machines.memory import Library

Q, N = 3329, 256
TRANSFORM_BOUND = 8 * Q  # bounds.hpp: kTransformBound
LANES = 16  # items whose polynomials are interleaved on AVX2
WORD = 1 << 15


def product_bound(terms: int) -> int:
    """bounds.hpp: montgomery_bound(sum_bound(terms, odd))"""
    odd = TRANSFORM_BOUND if terms < 4 else Q
    return ((terms * (odd + Q) << 12) - 1 + (Q << 15) >> 16) + 1


PRODUCT_BOUND = product_bound(3)  # kProductBound

Rows = list[dict[int, int]]  # for each result the factors of inputs


def _gamma(i: int) -> int:
    """Coefficients 2 i and 2 i + 1 of a transform are those of the polynomial mod x^2 - gamma. [FIPS203, Alg 11]"""
    return pow(17, 2 * int(f"{i:07b}"[::-1], 2) + 1, Q)


def transform() -> Rows:
    """[FIPS203, 4.3]"""
    return [{2 * j + n % 2: pow(_gamma(n // 2), j, Q) for j in range(N // 2)} for n in range(N)]


def inverse(scale: int) -> Rows:
    """`scale` times the inverse of the transform."""
    factor = scale * pow(N // 2, -1, Q)
    return [{2 * j + n % 2: factor * pow(_gamma(j), -(n // 2), Q) % Q for j in range(N // 2)} for n in range(N)]


def terms_of_product(n: int) -> tuple[tuple[int, int, int], ...]:
    """Returns (i, j, factor) for the terms factor a[i] b[j] of coefficient n of a product of transforms.
    [FIPS203, Alg 12]"""
    even = n // 2 * 2
    if n % 2 == 0:
        return (even, even, 1), (even + 1, even + 1, _gamma(n // 2))
    return (even, even + 1, 1), (even + 1, even, 1)


def compressed(bits: int) -> Callable[[Values], Values]:
    """[FIPS203, (4.7)], for any representative mod q."""
    return lambda x: ((x % Q << bits + 1) + Q) // (2 * Q) % (1 << bits)


def decompressed(bits: int) -> Callable[[Values], Values]:
    """[FIPS203, (4.8)]"""
    return lambda y: (2 * Q * y + (1 << bits)) >> (bits + 1)


def linear(rows: Callable[[], Rows], inputs: tuple[int, int], results: tuple[int, int], lanes: int = 1) -> Proof:
    """In place: each result is a sum of inputs times factors. Word n of item l is at [n lanes + l]."""

    def prove(library: Library, function: str) -> None:
        run = Run(library, Q)
        a = run.unknown("a", N * lanes, *inputs)
        run.machine.call(function, a.address)
        for n, row in enumerate(rows()):
            for lane in range(lanes):
                form = {(a.first + j * lanes + lane,): factor for j, factor in row.items()}
                run.expect(run.result(a.address, n * lanes + lane), form, *results, f"coefficient {n} of item {lane}")

    return prove


def each_word(expected: Callable[[Values], Values], inputs: tuple[int, int], arguments: Sequence[int] = ()) -> Proof:
    """In place, word by word, on interleaved polynomials."""

    def prove(library: Library, function: str) -> None:
        run = Run(library, Q)
        a = run.unknown("a", N * LANES, *inputs)
        run.machine.call(function, a.address, *arguments)
        for n, word in enumerate(a.words):
            run.expect_table(run.result(a.address, n), word, expected, f"word {n}")

    return prove


def sums(scale: int, c_range: tuple[int, int], e_range: tuple[int, int], has_16_bits: bool = False) -> Proof:
    """c = scale c + e in [0, q), on interleaved polynomials; has_16_bits: for words c and e whose sum has 16 bits."""

    def prove(library: Library, function: str) -> None:
        run = Run(library, Q)
        c, e = run.unknown("c", N * LANES, *c_range), run.unknown("e", N * LANES, *e_range)
        if has_16_bits and run.drawn is None:
            for n in range(N * LANES):
                run.facts.assume_sum(c.words[n], e.words[n], -WORD, WORD - 1)
        run.machine.call(function, c.address, e.address)
        for n in range(N * LANES):
            form = {(c.first + n,): scale % Q, (e.first + n,): 1}
            run.expect(run.result(c.address, n), form, 0, Q - 1, f"word {n}")

    return prove


def single_products(terms: int) -> Proof:
    """c = the sum of the products of `terms` transforms, of one item."""

    def prove(library: Library, function: str) -> None:
        run = Run(library, Q)
        c, a, b = run.space(), run.unknown("a", N * terms, 0, 4095), run.unknown("b", N * terms, 0, Q - 1)
        run.machine.call(function, c, a.address, b.address, terms)
        for n in range(N):
            form: Form = {(a.first + term * N + i, b.first + term * N + j): factor
                          for term in range(terms) for i, j, factor in terms_of_product(n)}
            run.expect(run.result(c, n), form, 0, Q - 1, f"coefficient {n}")

    return prove


def interleaved_products(terms: int, rows: int, shared: bool, pairs: bool) -> Proof:
    """c[r] = 2^-16 times the sum of a[r terms + i] y[i], on interleaved polynomials; a is the same for all items, or
    paired if `pairs`."""

    def prove(library: Library, function: str) -> None:
        run = Run(library, Q)
        width = 1 if shared else LANES
        c, a = run.space(), run.unknown("a", N * width * terms * rows, 0, 4095)
        y = run.unknown("y", N * LANES * terms, 1 - TRANSFORM_BOUND, TRANSFORM_BOUND - 1)
        run.machine.call(function, c, a.address, y.address, rows, terms)
        scale, bound = pow(1 << 16, -1, Q), product_bound(terms)
        for row in range(rows):
            for n in range(N):
                for item in range(LANES):
                    form: Form = {}
                    for term in range(terms):
                        for i, j, factor in terms_of_product(n):
                            of_a = (row * terms + term) * N * width + (
                                i if shared else paired(i, item) if pairs else i * LANES + item)
                            form[(a.first + of_a, y.first + (term * N + j) * LANES + item)] = factor * scale % Q
                    run.expect(run.result(c, (row * N + n) * LANES + item), form, 1 - bound, bound - 1,
                               f"coefficient {n} of row {row} of item {item}")

    return prove


def paired(n: int, item: int) -> int:
    """Returns the place of coefficient n of an item in paired polynomials: ntt_lanes.hpp."""
    group, r = divmod(item, 8)
    return (n // 2 * 2 + r // 4) * LANES + 8 * group + 2 * (r % 4) + n % 2


CANONICAL, WITHIN_Q = (0, Q - 1), (1 - Q, Q - 1)


def _single(name: str, functions: tuple[str, str, str]) -> Iterator[Claim]:
    forward, backward, multiply = functions
    yield Claim(f"{name} transform", forward, "words in [0, q)", "the transform, in [0, q)",
                linear(transform, CANONICAL, CANONICAL))
    yield Claim(f"{name} inverse", backward, "words in [0, q)", "the inverse, in [0, q)",
                linear(lambda: inverse(1), CANONICAL, CANONICAL))
    for terms in (1, 2, 3, 4):
        yield Claim(f"{name} products, {terms}", multiply, "a below 2^12, b in [0, q)",
                    "the sum of products, in [0, q)", single_products(terms))


def _interleaved(name: str, table: str) -> Iterator[Claim]:
    # The pointers of NttFunctions follow two other words.
    forward, backward, multiply, shared, add_product, add, canonical, compress, decompress = (
        f"{table}[{n}]" for n in range(2, 11))
    wide = (1 - TRANSFORM_BOUND, TRANSFORM_BOUND - 1)
    product = (1 - PRODUCT_BOUND, PRODUCT_BOUND - 1)
    yield Claim(f"{name} transform", forward, "words in (-q, q)", "the transform, in (-8 q, 8 q)",
                linear(transform, WITHIN_Q, wide, LANES))
    yield Claim(f"{name} inverse", backward, f"words in (-{PRODUCT_BOUND}, {PRODUCT_BOUND})",
                "2^16 times the inverse, in (-q, q)", linear(lambda: inverse(1 << 16), product, WITHIN_Q, LANES))
    for terms in (2, 3, 4):
        for function, is_shared in ((multiply, False), (shared, True)):
            yield Claim(f"{name} products, {terms}{', shared' if is_shared else ''}", function,
                        "a below 2^12, y in (-8 q, 8 q)",
                        f"2^-16 times the sum of products, in (-{product_bound(terms)}, {product_bound(terms)})",
                        interleaved_products(terms, 2, is_shared, "avx2" in name))
    yield Claim(f"{name} add product", add_product, "any words c, e in (-8 q, 8 q)", "2^16 c + e, in [0, q)",
                sums(1 << 16, (-WORD, WORD - 1), wide))
    yield Claim(f"{name} add", add, "words whose sum has 16 bits", "c + e, in [0, q)",
                sums(1, (-WORD, WORD - 1), (-WORD, WORD - 1), has_16_bits=True))
    yield Claim(f"{name} canonical", canonical, "any words", "the words, in [0, q)",
                each_word(lambda x: x % Q, (-WORD, WORD - 1)))
    for bits in (1, 4, 5, 10, 11):
        yield Claim(f"{name} compress to {bits}", compress, "words in [0, 4 q)", "FIPS 203, (4.7)",
                    each_word(compressed(bits), (0, 4 * Q - 1), (bits,)))
        yield Claim(f"{name} decompress from {bits}", decompress, f"words below 2^{bits}", "FIPS 203, (4.8)",
                    each_word(decompressed(bits), (0, (1 << bits) - 1), (bits,)))


def compressed_and_packed(bits: int, inputs: tuple[int, int]) -> Proof:
    """Words are compressed, and packed."""

    def prove(library: Library, function: str) -> None:
        run, expected = Run(library, Q), compressed(bits)
        out, a = run.space(), run.unknown("a", N, *inputs)
        run.machine.call(function, out, a.address)
        for n, word in enumerate(a.words):
            run.expect_table(run.field(out, n, bits), word, expected, f"word {n}")

    return prove


def unpacked_and_decompressed(bits: int) -> Proof:
    """The inverse."""

    def prove(library: Library, function: str) -> None:
        run, expected = Run(library, Q), decompressed(bits)
        out, fields = run.space(), run.stream("a", N, bits)
        run.machine.call(function, out, fields.address)
        for n, field in enumerate(fields.words):
            run.expect_table(run.result(out, n), field, expected, f"word {n}")

    return prove


def added(library: Library, function: str) -> None:
    """a = a + b mod q."""
    run = Run(library, Q)
    a, b = (run.unknown(name, N, *CANONICAL) for name in "ab")
    run.machine.call(function, a.address, b.address)
    for n in range(N):
        run.expect(run.result(a.address, n), {(a.first + n,): 1, (b.first + n,): 1}, *CANONICAL, f"word {n}")


def subtracted(library: Library, function: str) -> None:
    """out = a - b mod q."""
    run = Run(library, Q)
    out, a, b = run.space(), *(run.unknown(name, N, *CANONICAL) for name in "ab")
    run.machine.call(function, out, a.address, b.address)
    for n in range(N):
        run.expect(run.result(out, n), {(a.first + n,): 1, (b.first + n,): Q - 1}, *CANONICAL, f"word {n}")


def binomial(*bits: Values) -> Values:
    """Half of the bits minus the others. [FIPS203, Alg 8]"""
    half = len(bits) // 2
    return sum(bits[:half]) - sum(bits[half:])


def noise(library: Library, function: str, eta: int) -> None:
    """Bytes become a polynomial with coefficients mod q."""
    run = Run(library, Q)
    out, bits = run.space(), run.stream("b", 2 * eta * N, 1)
    run.machine.call(function, out, bits.address)
    for n in range(N):
        run.expect_table(run.result(out, n), bits.words[2 * eta * n:2 * eta * (n + 1)], _canonical_noise, f"word {n}")


def _canonical_noise(*bits: Values) -> Values:
    return binomial(*bits) % Q


def linear_polynomials(rows: Callable[[], Rows], count: int) -> Proof:
    """linear(), on `count` polynomials of words in (-q, q), one after the other; as are the results."""

    def prove(library: Library, function: str) -> None:
        run = Run(library, Q)
        a = run.unknown("a", N * count, *WITHIN_Q)
        run.machine.call(function, a.address, count)
        for n, row in enumerate(rows()):
            for first in range(0, N * count, N):
                form = {(a.first + first + j,): factor for j, factor in row.items()}
                run.expect(run.result(a.address, first + n), form, *WITHIN_Q, f"word {first + n}")

    return prove


def products_of_rows(rows: int, terms: int) -> Proof:
    """c[r] = 2^-16 times the sum of a[r terms + i] y[i], of one item."""

    def prove(library: Library, function: str) -> None:
        run, scale = Run(library, Q), pow(1 << 16, -1, Q)
        c, a = run.space(), run.unknown("a", N * terms * rows, 0, 4095)
        y = run.unknown("y", N * terms, *WITHIN_Q)
        run.machine.call(function, c, a.address, y.address, rows, terms)
        for n in range(N * rows):
            first = n // N * N * terms
            form: Form = {(a.first + first + term * N + i, y.first + term * N + j): factor * scale % Q
                          for term in range(terms) for i, j, factor in terms_of_product(n % N)}
            run.expect(run.result(c, n), form, *WITHIN_Q, f"word {n}")

    return prove


def noise_transform(eta: int, scale: int, results: tuple[int, int], count: int = 1) -> Proof:
    """`scale` times the transforms of polynomials of noise."""

    def prove(library: Library, function: str) -> None:
        run = Run(library, Q)
        a, bits = run.space(), run.stream("b", 2 * eta * N * count, 1)
        run.machine.call(function, a, bits.address, 2 * eta * N // 8, count)
        for item in range(count):
            for n, row in enumerate(transform()):
                form: Form = {}
                for j, factor in row.items():
                    first = bits.first + 2 * eta * (item * N + j)
                    form |= {(first + i,): (factor if i < eta else -factor) * scale % Q for i in range(2 * eta)}
                run.expect(run.result(a, item * N + n), form, *results, f"coefficient {n} of polynomial {item}")

    return prove


def added_noise(library: Library, function: str) -> None:
    """a + 2 q + noise of eta = 2."""
    run = Run(library, Q)
    a, bits = run.unknown("a", N, *WITHIN_Q), run.stream("b", 4 * N, 1)
    run.machine.call(function, a.address, bits.address)
    for n in range(N):
        form = {(a.first + n,): 1, **{(bits.first + 4 * n + i,): 1 if i < 2 else Q - 1 for i in range(4)}}
        run.expect(run.result(a.address, n), form, Q - 1, 3 * Q + 1, f"word {n}")


def noise_bound(eta: int, scale: int) -> int:
    """noise.hpp: kNoiseTransformBound"""

    def size(factor: int) -> int:
        small = min(factor % Q, -factor % Q)
        return max(small, min(2 * factor % Q, -2 * factor % Q)) if eta == 2 else 3 * small

    zetas = [pow(17, int(f"{i:07b}"[::-1], 2), Q) for i in range(4)]
    factors = [scale * f % Q for f in (1, zetas[2], zetas[1], zetas[2] * zetas[1], zetas[3], zetas[3] * zetas[1])]
    largest = [size(factor) for factor in factors]
    sums = largest[0] + largest[2] + max(largest[1] + largest[3], largest[4] + largest[5]) + 1
    return sums + 5 * (((WORD * (Q // 2) + (Q << 15)) >> 16) + 1)


def _inlined(name: str, prefix: str, compress_inputs: int) -> Iterator[Claim]:
    def claim(what: str, function: str, inputs: str, result: str, proof: Proof) -> Claim:
        return Claim(f"{name} {what}", f"{prefix}_mlkem_{function}", inputs, result, proof, inlined=True)

    yield claim("pack 12", "pack_12", "words below 2^12", "FIPS 203, Algorithm 5", packed(12, 16))
    yield claim("unpack 12", "unpack_12", "any bytes", "FIPS 203, Algorithm 6", unpacked(12, 16))
    for bits in (1, 4, 5, 10, 11):
        yield claim(f"compress and pack {bits}", f"compress_{bits}",
                    f"words in [0, {'q' if compress_inputs == 1 else f'{compress_inputs} q'})",
                    "FIPS 203, (4.7), Algorithm 5", compressed_and_packed(bits, (0, compress_inputs * Q - 1)))
        yield claim(f"unpack and decompress {bits}", f"decompress_{bits}", "any bytes", "FIPS 203, Algorithm 6, (4.8)",
                    unpacked_and_decompressed(bits))
    yield claim("add", "add", "words in [0, q)", "a + b, in [0, q)", added)
    yield claim("subtract", "subtract", "words in [0, q)", "a - b, in [0, q)", subtracted)
    for eta in (2, 3):
        yield claim(f"noise {eta}", f"noise_{eta}", "any bytes", "FIPS 203, Algorithm 8, in [0, q)",
                    lambda library, function, eta=eta: noise(library, function, eta))


def _x8() -> Iterator[Claim]:
    def claim(what: str, function: str, inputs: str, result: str, proof: Proof) -> Claim:
        return Claim(f"mlkem avx512 x8 {what}", f"avx512_x8_{function}", inputs, result, proof, inlined=True)

    yield claim("transform, 3", "forward", "words in (-q, q)", "the transforms, in (-q, q)",
                linear_polynomials(transform, 3))
    yield claim("inverse, 3", "inverse", "words in (-q, q)", "2^16 times the inverses, in (-q, q)",
                linear_polynomials(lambda: inverse(1 << 16), 3))
    for terms in (2, 3, 4):
        for rows in (1, terms, terms + 1):
            yield claim(f"products, {rows} x {terms}", "multiply", "a below 2^12, y in (-q, q)",
                        "2^-16 times the sums of products, in (-q, q)", products_of_rows(rows, terms))
    for eta in (2, 3):
        bound = noise_bound(eta, pow(1 << 16, -1, Q))
        for kind, scale, results, text in (
                ("canonical", 1, CANONICAL, "the transform of FIPS 203, Algorithm 8, in [0, q)"),
                ("reduced", 1, WITHIN_Q, "the transform of FIPS 203, Algorithm 8, in (-q, q)"),
                ("unreduced", pow(1 << 16, -1, Q), (1 - bound, bound - 1),
                 f"2^-16 times the transform of FIPS 203, Algorithm 8, in (-{bound}, {bound})")):
            yield claim(f"{kind} noise {eta}", f"noise_{kind}_{eta}", "any bytes", text,
                        noise_transform(eta, scale, results, 3 if kind == "reduced" else 1))
    yield claim("add noise", "add_noise", "words in (-q, q), any bytes", "their sum and 2 q, not reduced", added_noise)


def claims() -> Iterator[Claim]:
    """Yields what is claimed of ML-KEM."""
    yield from _single("mlkem ref", ("_ZN7polykem3ntt7forwardEPt", "_ZN7polykem3ntt7inverseEPt",
                                     "_ZN7polykem3ntt8multiplyEPtPKtS3_m"))
    for isa in ("Avx2", "Avx512", "Neon"):
        table = f"_ZN7polykem{len(isa) + 10}kSingleNtt{isa}E"
        yield from _single(f"mlkem {isa.lower()}", (f"{table}[0]", f"{table}[1]", f"{table}[2]"))
    yield from _interleaved("mlkem avx2 interleaved", "_ZN7polykem8kNttAvx2E")
    yield from _interleaved("mlkem neon interleaved", "_ZN7polykem8kNttNeonE")
    for isa in ("ref", "avx2", "avx512", "neon"):
        is_ref = isa == "ref"
        yield from _inlined(f"mlkem {isa}", "portable" if is_ref else isa, 1 if is_ref else 4)
    yield from _x8()
