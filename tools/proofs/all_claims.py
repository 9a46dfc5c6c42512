# SPDX-License-Identifier: Apache-2.0
"""The claims of all families."""

from collections.abc import Iterator

from proofs import amx, frodo, mldsa, mlkem, ntru, saber, saber_packing
from proofs.claims import Claim


def all_claims() -> Iterator[Claim]:
    for family in (mlkem, mldsa, frodo, ntru, saber, saber_packing, amx):
        yield from family.claims()
