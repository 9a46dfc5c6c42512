# SPDX-License-Identifier: Apache-2.0
"""ML-KEM's unpacking and noise in the GPU code's headers, compiled for the host: cuda_mlkem.cpp."""

from __future__ import annotations

from collections.abc import Iterator

from proofs.algebra.terms import add, const, sub
from proofs.claims import Claim, Proof, Run
from proofs.families.cuda_records import expect_alike, sum_of, unpacked
from proofs.families.mlkem import N, Q
from proofs.machines.memory import Library


def noise(eta: int) -> Proof:
    """Bits become words that are q more than half of them minus the others. [FIPS203, Alg 8]"""

    def prove(library: Library, function: str) -> None:
        run, known = Run(library, Q), set()
        out, bits = run.space(), run.stream("b", 2 * eta * N, 1)
        run.machine.call(function, out, bits.address)
        parts = [bits.words[2 * eta * n:2 * eta * (n + 1)] for n in range(N)]
        for n, part in enumerate(parts):
            beside = [bit for of in parts[n // 8 * 8:n // 8 * 8 + 8] for bit in of]
            expected = add(const(Q, 32), sub(sum_of(part[:eta], 32), sum_of(part[eta:], 32)))
            expect_alike(run, run.result(out, n, 32), beside, expected, known, f"word {n}")

    return prove


def claims() -> Iterator[Claim]:
    """Yields what is claimed of ML-KEM's records and noise on a GPU."""
    for bits in (4, 5, 10, 11, 12):
        yield Claim(f"cuda mlkem unpack {bits} bits", f"cuda_mlkem_unpack_{bits}", "any bytes, at any alignment",
                    "FIPS 203, Algorithm 6", unpacked(N, bits, 32), inlined=True)
    for eta in (2, 3):
        yield Claim(f"cuda mlkem noise {eta}", f"cuda_mlkem_noise_{eta}", "any bytes", "q + FIPS 203, Algorithm 8",
                    noise(eta), inlined=True)
