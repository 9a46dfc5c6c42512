# SPDX-License-Identifier: Apache-2.0
"""ML-DSA's transforms mod 8380417 as FIPS 204 defines them, and what src/schemes/mldsa/lanes/ntt.hpp promises."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from proofs.claims import Claim, Run
from proofs.memory import Library

Q, N = 8380417, 256


def _root(i: int) -> int:
    return pow(1753, 2 * int(f"{i:08b}"[::-1], 2) + 1, Q)


def transform() -> list[list[int]]:
    """Coefficient i is the polynomial's value at a root. [FIPS204, 2.5]"""
    return [[pow(_root(i), j, Q) for j in range(N)] for i in range(N)]


def inverse(scale: int) -> list[list[int]]:
    """`scale` times the inverse of the transform."""
    factor = scale * pow(N, -1, Q)
    return [[factor * pow(_root(i), -j, Q) % Q for i in range(N)] for j in range(N)]


def linear(rows: Callable[[], list[list[int]]], bound: int) -> Callable[[Library, str], None]:
    """In place, on a polynomial of 32-bit words in (-q, q); results are in (-bound, bound)."""

    def prove(library: Library, function: str) -> None:
        run = Run(library, Q)
        a = run.unknown("a", N, 1 - Q, Q - 1, 32)
        run.machine.call(function, a.address)
        for n, row in enumerate(rows()):
            form = {(a.first + j,): factor for j, factor in enumerate(row)}
            run.expect(run.result(a.address, n, 32), form, 1 - bound, bound - 1, f"coefficient {n}")

    return prove


def claims() -> Iterator[Claim]:
    """Yields what is claimed of ML-DSA."""
    for isa in ("avx2", "avx512"):
        name = f"_ZN7polykem5mldsa5lanes{len(isa)}{isa}"
        yield Claim(f"mldsa {isa} transform", f"{name}3nttERNS0_4PolyE", "words in (-q, q)",
                    "the transform, in (-9 q, 9 q)", linear(transform, 9 * Q))
        yield Claim(f"mldsa {isa} inverse", f"{name}11inverse_nttERNS0_4PolyE", "words in (-q, q)",
                    "2^32 times the inverse, in (-q, q)", linear(lambda: inverse(1 << 32), Q))
