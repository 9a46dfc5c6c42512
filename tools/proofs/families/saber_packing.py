# SPDX-License-Identifier: Apache-2.0
"""Saber's packing and noise, as its specification and src/schemes/saber/ref/pack.hpp define them."""

from __future__ import annotations

from collections.abc import Iterator

from proofs.claims import Claim, Run
from proofs.families.mlkem import binomial
from proofs.families.packing import N, packed, unpacked
from proofs.machines.memory import Library


def secret(library: Library, function: str, mu: int) -> None:
    """Bytes become a polynomial with coefficients mod 2^16. [SABER20, GenSecret]"""
    run = Run(library, 1 << 16)
    out, bits = run.space(), run.stream("b", mu * N, 1)
    run.machine.call(function, out, bits.address)
    for n in range(N):
        run.expect_table(run.result(out, n), bits.words[mu * n:mu * (n + 1)], binomial, f"word {n}")


def claims() -> Iterator[Claim]:
    """Yields what is claimed of Saber."""
    for isa, name in (("portable", "ref"), ("avx2", "avx2"), ("avx512", "avx512"), ("neon", "neon")):
        for bits in (1, 3, 4, 6, 10, 13):
            yield Claim(f"saber {name} pack {bits} bits", f"{isa}_saber_pack_{bits}", "any words",
                        "their low bits, in order", packed(bits, 16, masks=True), inlined=True)
            yield Claim(f"saber {name} unpack {bits} bits", f"{isa}_saber_unpack_{bits}", "any bytes",
                        "words of their bits, in order", unpacked(bits, 16), inlined=True)
        for mu in (6, 8, 10):
            yield Claim(f"saber {name} secret {mu}", f"{isa}_saber_secret_{mu}", "any bytes", "GenSecret, mod 2^16",
                        lambda library, function, mu=mu: secret(library, function, mu), inlined=True)
