# SPDX-License-Identifier: Apache-2.0
"""The claims of all families, and those of them that a run proves."""

from collections.abc import Iterator, Sequence

from proofs.claims import Claim
from proofs.families import (acceptance, amx, ckks_sums, cortex_m4, cuda, cuda_frodo, cuda_lac, cuda_mldsa, cuda_mlkem,
                             cuda_ntru, cuda_operands, cuda_saber, every_prime, frodo, frodo_message, lac, mldsa, mlkem,
                             mlkem_blocks, mlkem_x8, ntru, ntru_inverse, ntru_sort, ntru_steps, ntru_ternary, saber,
                             saber_blocks, saber_packing, saber_steps, selection)

FAMILIES = (mlkem, mlkem_blocks, mlkem_x8, mldsa, frodo, frodo_message, ntru, ntru_steps, ntru_sort, ntru_inverse,
            ntru_ternary, saber, saber_packing, saber_steps, saber_blocks, lac, acceptance, selection, amx, cuda,
            cuda_operands, cuda_mlkem, cuda_mldsa, cuda_saber, cuda_ntru, cuda_lac, cuda_frodo, every_prime, ckks_sums,
            cortex_m4)


# Words of names that a library has no functions for, by what it was built with: POLYKEM_VECTORS in CMake.
LEFT_OUT = {"avx512": set(), "avx2": {"avx512", "amx"}, "none": {"avx512", "amx", "avx2", "neon"}}


def all_claims() -> Iterator[Claim]:
    for family in FAMILIES:
        yield from family.claims()


def chosen_claims(instruction_set: str, names: Sequence[str], with_long: bool, vectors: str = "avx512") -> list[Claim]:
    """Returns the claims about a library of an instruction set, or those whose names contain one of `names`; without
    the long ones, unless `with_long` says so. Raises ValueError for a name that is in none."""
    of_library = [claim for claim in all_claims() if claim.is_for(instruction_set) and
                  (with_long or not claim.is_long) and not LEFT_OUT[vectors] & set(claim.name.split())]
    for name in names:
        if not any(name in claim.name for claim in of_library):
            raise ValueError(f"no claim about this library has a name like {name}")
    return [claim for claim in of_library if not names or any(name in claim.name for name in names)]
