# SPDX-License-Identifier: Apache-2.0
"""The claims of all families."""

from collections.abc import Iterator

from proofs.claims import Claim
from proofs.families import (acceptance, amx, ckks_sums, cortex_m4, cuda, cuda_frodo, cuda_lac, cuda_mldsa, cuda_ntru,
                             cuda_operands, cuda_saber, every_prime, frodo, lac, mldsa, mlkem, mlkem_blocks, mlkem_x8,
                             ntru, ntru_inverse, ntru_sort, ntru_steps, ntru_ternary, saber, saber_blocks,
                             saber_packing, saber_steps, selection)

FAMILIES = (mlkem, mlkem_blocks, mlkem_x8, mldsa, frodo, ntru, ntru_steps, ntru_sort, ntru_inverse, ntru_ternary, saber,
            saber_packing, saber_steps, saber_blocks, lac, acceptance, selection, amx, cuda, cuda_operands, cuda_mldsa,
            cuda_saber, cuda_ntru, cuda_lac, cuda_frodo, every_prime, ckks_sums, cortex_m4)


def all_claims() -> Iterator[Claim]:
    for family in FAMILIES:
        yield from family.claims()
