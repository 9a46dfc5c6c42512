# SPDX-License-Identifier: Apache-2.0
"""ML-DSA's arithmetic mod 8380417, its rounding and its packing, as FIPS 204 defines them, in the ranges of
src/schemes/mldsa/."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from proofs.algebra.facts import Form
from proofs.claims import Claim, Proof, Run, Values
from proofs.families.packing import packed, unpacked
from proofs.machines.memory import Library

Q, N, D = 8380417, 256, 13


def _root(i: int) -> int:
    return pow(1753, 2 * int(f"{i:08b}"[::-1], 2) + 1, Q)


def transform() -> list[list[int]]:
    """Coefficient i is the polynomial's value at a root. [FIPS204, 2.5]"""
    return [[pow(_root(i), j, Q) for j in range(N)] for i in range(N)]


def inverse(scale: int) -> list[list[int]]:
    """`scale` times the inverse of the transform."""
    factor = scale * pow(N, -1, Q)
    return [[factor * pow(_root(i), -j, Q) % Q for i in range(N)] for j in range(N)]


def linear(rows: Callable[[], list[list[int]]], bound: int) -> Proof:
    """In place, on a polynomial of 32-bit words in (-q, q); results are in (-bound, bound)."""

    def prove(library: Library, function: str) -> None:
        run = Run(library, Q)
        a = run.unknown("a", N, 1 - Q, Q - 1, 32)
        run.machine.call(function, a.address)
        for n, row in enumerate(rows()):
            form = {(a.first + j,): factor for j, factor in enumerate(row)}
            run.expect(run.result(a.address, n, 32), form, 1 - bound, bound - 1, f"coefficient {n}")

    return prove


def product(terms: int) -> Proof:
    """out = 2^-32 times the sum of the products of `terms` transforms."""

    def prove(library: Library, function: str) -> None:
        run = Run(library, Q)
        out, a = run.space(), run.unknown("a", terms * N, 0, Q - 1, 32)
        b = run.unknown("b", terms * N, 1 - 9 * Q, 9 * Q - 1, 32)
        run.machine.call(function, out, a.address, b.address, terms)
        scale = pow(1 << 32, -1, Q)
        for n in range(N):
            form: Form = {(a.first + i * N + n, b.first + i * N + n): scale for i in range(terms)}
            run.expect(run.result(out, n, 32), form, 1 - Q, Q - 1, f"coefficient {n}")

    return prove


def reduction(library: Library, function: str) -> None:
    """out = 2^-32 times words of 64 bits."""
    run, bound = Run(library, Q), Q << 31
    out, x = run.space(), run.unknown("x", N, 1 - bound, bound - 1, 64)
    run.machine.call(function, out, x.address)
    for n in range(N):
        form: Form = {(x.first + n,): pow(1 << 32, -1, Q)}
        run.expect(run.result(out, n, 32), form, 1 - Q, Q - 1, f"coefficient {n}")


def representative(inputs: tuple[int, int], results: tuple[int, int]) -> Proof:
    """In place, word by word: another representative mod q."""

    def prove(library: Library, function: str) -> None:
        run = Run(library, Q)
        a = run.unknown("a", N, *inputs, 32)
        run.machine.call(function, a.address)
        for n in range(N):
            run.expect(run.result(a.address, n, 32), {(a.first + n,): 1}, *results, f"coefficient {n}")

    return prove


def each_word(results: Sequence[Callable[..., Values]], *inputs: tuple[int, int]) -> Proof:
    """Polynomials of results, word by word, from polynomials of inputs in ranges."""

    def prove(library: Library, function: str) -> None:
        run = Run(library, Q)
        spaces = [run.space() for _ in results]
        arrays = [run.unknown("abc"[n], N, *ends, 32) for n, ends in enumerate(inputs)]
        run.machine.call(function, *spaces, *(array.address for array in arrays))
        for n in range(N):
            for space, expected in zip(spaces, results):
                run.expect_table(run.result(space, n, 32), [array.words[n] for array in arrays], expected,
                                 f"coefficient {n} of result {spaces.index(space)}")

    return prove


def _centred(r: Values, modulus: int) -> Values:
    """r mod+- modulus. [FIPS204, 2.3]"""
    remainder = r % modulus
    return np.where(2 * remainder > modulus, remainder - modulus, remainder)


def power2_rounded(r: Values) -> tuple[Values, Values]:
    """[FIPS204, Alg 35]"""
    low = _centred(r % Q, 1 << D)
    return r % Q - low >> D, low


def decomposed(part: int, r: Values) -> tuple[Values, Values]:
    """[FIPS204, Alg 36], gamma2 = (q - 1) / part."""
    step = 2 * (Q - 1) // part
    low = _centred(r % Q, step)
    at_end = r % Q - low == Q - 1
    return np.where(at_end, 0, (r % Q - low) // step), low - at_end


def with_hint(part: int, hint: Values, r: Values) -> Values:
    """[FIPS204, Alg 40]"""
    high, low = decomposed(part, r)
    return np.where(hint == 1, high + np.where(low > 0, 1, -1), high) % (part // 2)


def hint_of(part: int, high: Values, low: Values) -> Values:
    """The hint of z and r, where r + z has the high part `high`, and r is `low` more than its multiple: whether the
    high part of r is another. [FIPS204, Alg 39]"""
    return (decomposed(part, high * (2 * (Q - 1) // part) + low)[0] != high).astype(np.int64)


def claims() -> Iterator[Claim]:
    """Yields what is claimed of ML-DSA."""
    for isa in ("avx2", "avx512"):
        name = f"_ZN7polykem5mldsa5lanes{len(isa)}{isa}"
        yield from _transforms(f"mldsa {isa}", f"{name}3nttERNS0_4PolyE", f"{name}11inverse_nttERNS0_4PolyE")
    yield from _transforms("mldsa ref", "portable_mldsa_ntt", "portable_mldsa_inverse_ntt", inlined=True)
    yield from _transforms("mldsa neon", "neon_mldsa_ntt", "neon_mldsa_inverse_ntt", inlined=True)
    for isa in ("ref", "avx2", "avx512", "neon"):
        yield from _inlined(f"mldsa {isa}", f"{'portable' if isa == 'ref' else isa}_mldsa")


def _transforms(name: str, forward: str, backward: str, inlined: bool = False) -> Iterator[Claim]:
    yield Claim(f"{name} transform", forward, "words in (-q, q)", "the transform, in (-9 q, 9 q)",
                linear(transform, 9 * Q), inlined)
    yield Claim(f"{name} inverse", backward, "words in (-q, q)", "2^32 times the inverse, in (-q, q)",
                linear(lambda: inverse(1 << 32), Q), inlined)


def _inlined(name: str, prefix: str) -> Iterator[Claim]:
    def claim(what: str, function: str, inputs: str, result: str, proof: Proof) -> Claim:
        return Claim(f"{name} {what}", f"{prefix}_{function}", inputs, result, proof, inlined=True)

    for terms in (1, 4, 5, 7):
        yield claim(f"products, {terms}", "multiply", "a in [0, q), b in (-9 q, 9 q)",
                    "2^-32 times the sum of products, in (-q, q)", product(terms))
    yield claim("montgomery", "montgomery", "words in (-2^31 q, 2^31 q)", "2^-32 times the words, in (-q, q)",
                reduction)
    yield claim("canonical", "canonical", "words in (-q, q)", "the words, in [0, q)",
                representative((1 - Q, Q - 1), (0, Q - 1)))
    yield claim("centred", "centred_once", "words in (-q, q)", "the words, in (-q/2, q/2)",
                representative((1 - Q, Q - 1), (-(Q // 2), Q // 2)))
    most = (1 << 31) - (1 << 22) - 1
    yield claim("reduced", "reduced", "words in (-2^31 + 2^22, 2^31 - 2^22)", "the words, in (-q, q)",
                representative((-most, most), (1 - Q, Q - 1)))
    canonical = (0, Q - 1)
    yield claim("power2 round", "power2_round", "words in [0, q)", "FIPS 204, Algorithm 35",
                each_word([lambda r: power2_rounded(r)[0], lambda r: power2_rounded(r)[1]], canonical))
    for part in (32, 88):
        step = 2 * (Q - 1) // part
        yield claim(f"decompose by {part}", f"decompose_{part}", "words in [0, q)", "FIPS 204, Algorithm 36",
                    each_word([lambda r, part=part: decomposed(part, r)[0],
                               lambda r, part=part: decomposed(part, r)[1]], canonical))
        yield claim(f"make hint by {part}", f"make_hint_{part}", "high parts, low words within 2 gamma2",
                    "FIPS 204, Algorithm 39", each_word([lambda high, low, part=part: hint_of(part, high, low)],
                                                        (0, part // 2 - 1), (-step, step)))
        yield claim(f"use hint by {part}", f"use_hint_{part}", "words in [0, q), hints of 0 or 1",
                    "FIPS 204, Algorithm 40", each_word([lambda r, hint, part=part: with_hint(part, hint, r)],
                                                        canonical, (0, 1)))
    for bits in (1, 3, 4, 6, 10, 13, 18, 20):
        yield claim(f"pack {bits} bits", f"pack_{bits}", f"words below 2^{bits}", "their bits, in order",
                    packed(bits, 32))
    for bits in (3, 4, 10, 13, 18, 20):
        yield claim(f"unpack {bits} bits", f"unpack_{bits}", "any bytes", "words of their bits, in order",
                    unpacked(bits, 32))
        if bits != 10:
            top = 2 if bits == 3 else 4 if bits == 4 else 1 << bits - 1
            yield claim(f"pack {bits} bits below {top}", f"pack_below_{bits}",
                        f"words in [{top + 1 - (1 << bits)}, {top}]", f"{top} minus the words, in order",
                        packed(bits, 32, top))
            yield claim(f"unpack {bits} bits below {top}", f"unpack_below_{bits}", "any bytes",
                        f"{top} minus the words of their bits, in order", unpacked(bits, 32, top))
