# SPDX-License-Identifier: Apache-2.0
"""Packing, noise and bytes of products in the GPU code's headers of Saber, compiled for the host."""

from __future__ import annotations

from collections.abc import Iterator

from proofs.algebra.terms import concat, const, extract, sub, zext
from proofs.claims import Claim, Proof, Run
from proofs.families.cuda import claim
from proofs.families.cuda_records import Q, expect_alike, sum_of, unpacked
from proofs.families.packing import N, packed
from proofs.families.saber import NOISE_BITS
from proofs.machines.memory import Library

Q_BITS = 13


def secret(mu: int) -> Proof:
    """Sums of half of the bits minus those of the others. [SABER20, GenSecret]"""

    def prove(library: Library, function: str) -> None:
        run, known = Run(library, Q), set()
        outs, bits = [run.space() for _ in range(3)], run.fields("b", mu * N, 1)
        parts = [bits.words[mu * n:mu * (n + 1)] for n in range(N)]
        run.machine.call(function, *outs, run.store([concat(*reversed(part)) for part in parts]))
        for n, part in enumerate(parts):
            beside = [bit for of in parts[n // 4 * 4:n // 4 * 4 + 4] for bit in of]
            results = [run.result(outs[0], n, 8), run.result(outs[1], n, 8),
                       extract(run.result(outs[2], n), Q_BITS - 1, 0)]
            for result, sign, what in zip(results, (1, -1, 1), ("byte", "negative byte", "word")):
                halves = [sum_of(half, result.width) for half in (part[:mu // 2], part[mu // 2:])][::sign]
                expect_alike(run, result, beside, sub(*halves), known, f"{what} {n}")

    return prove


def limbs(library: Library, function: str) -> None:
    """Bytes of words x, and bytes whose word is -x mod 2^13."""
    run = Run(library, Q)
    out, x = run.space(), run.fields("x", N, Q_BITS)
    run.machine.call(function, out, run.store(x.words))
    for n, word in enumerate(x.words):
        low, high, minus_low, minus_high = (run.result(out + 256 * limb, n, 8) for limb in range(4))
        run.expect_same(concat(high, low), zext(word, 16), f"word {n}")
        minus = extract(concat(minus_high, minus_low), Q_BITS - 1, 0)
        run.expect_same(minus, sub(const(0, Q_BITS), word), f"the negative of word {n}")


def claims() -> Iterator[Claim]:
    """Yields what is claimed of Saber's GPU code."""
    for bits in (6, 8, 10, 13):
        yield claim(f"saber unpack {bits} bits", f"saber_unpack_{bits}", "any bytes, at any alignment",
                    "words of their bits, in order", unpacked(N, bits, 16))
    for bits in (3, 4, 6, 10, 13):
        yield claim(f"saber pack {bits} bits", f"saber_pack_{bits}", "any words", "their low bits, in order",
                    packed(bits, 16, masks=True))
    for mu in NOISE_BITS.values():
        yield claim(f"saber secret {mu}", f"saber_secret_{mu}", "any bits", "GenSecret, as bytes and mod 2^13",
                    secret(mu))
    yield claim("saber limbs", "saber_limbs", "words below 2^13", "their bytes, and those of -x mod 2^13", limbs)
