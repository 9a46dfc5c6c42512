# SPDX-License-Identifier: Apache-2.0
"""The claims of all families."""

from collections.abc import Iterator

from proofs import amx, cuda, every_prime, frodo, mldsa, mlkem, ntru, saber, saber_packing
from proofs.claims import Claim


def all_claims() -> Iterator[Claim]:
    for family in (mlkem, mldsa, frodo, ntru, saber, saber_packing, amx, cuda, every_prime):
        yield from family.claims()
