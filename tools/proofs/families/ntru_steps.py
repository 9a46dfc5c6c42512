# SPDX-License-Identifier: Apache-2.0
"""NTRU's steps beside products, inversions and sorts, on one item and on interleaved ones."""

from __future__ import annotations

from collections.abc import Iterator

from proofs.claims import Claim, Proof
from proofs.families.ntru import LOG_Q, SHORT
from proofs.families.ntru_failures import checked, selected
from proofs.families.ntru_lift import lifted
from proofs.families.ntru_multiply import multiplied, reduced, ternary_product, without_last
from proofs.families.ntru_records import loaded, packed, packed_trits, sampled, unpacked
from proofs.families.ntru_state import AVX2, AVX512, BLOCKS, HRSS, REF, Backend

# These are proved for both n of SHORT by default, the others for the first one. mul_m, whose bound grows with n, is
# proved for all.
QUICK = ("mod 3", "lift_add", "sample_rm", "check_rm")


def claims() -> Iterator[Claim]:
    """Yields what is claimed of NTRU's steps."""
    for backend in (REF, AVX2, AVX512, *BLOCKS):
        for n in LOG_Q:
            for name, stage, inputs, result, proof in claimed(backend, n):
                symbol = f"{backend.steps}IX*Lm{n}E*{len(stage)}{stage}E*"
                is_quick = n == SHORT[0] or name == "mul_m" or n == SHORT[1] and name in QUICK
                yield Claim(f"ntru {backend.name} {name} {n}", symbol, inputs, result, proof, is_long=not is_quick)


def claimed(backend: Backend, n: int) -> Iterator[tuple[str, str, str, str, Proof]]:
    """Yields name, step, inputs, result and proof of what is claimed of a backend and an n."""
    yield ("mod 3", "reduce_cf", "any words", f"words mod 2^{LOG_Q[n]}, around zero, mod (3, Phi_{n}), in [0, 2]",
           reduced(backend, n))
    yield "pack", "store_c", "any words", "the bits of n - 1 words, in order", packed(backend, n)
    if backend in (REF, AVX2):
        yield "pack h", "store_h", "any words", "the bits of n - 1 words, in order", packed(backend, n)
    yield ("unpack", "load_h", "any bytes", "n - 1 words with their bits, in order, and minus the sum of these",
           unpacked(backend, n))
    yield "pack trits", "pack_rm", "words in [0, 2]", "sums of 3^j word j", packed_trits(backend, n)
    if backend in (REF, AVX512):
        yield ("mul_m", "mul_m", f"any product in [0, {4 * n}]", f"it mod (3, Phi_{n}), in [0, 2]",
               ternary_product(backend, n))
    if n in HRSS:
        yield "sample_rm", "sample_rm", "any bytes", "each of them mod 3", sampled(backend, n)
    for stage, sign in (("lift_add", 1), ("lift_sub", -1)):
        yield (stage, stage, "words, and m in [0, 2]", f"words {'plus' if sign > 0 else 'minus'} Lift(m), mod 2^16",
               lifted(backend, n, sign))
    for stage in ("mul_hr", "mul_cf"):
        yield (stage, stage, "words, and a in [0, 2]", "the product of words and a, with -1 for 2",
               multiplied(backend, n))
    yield "mod Phi", "mul_r", "any product", "coefficients minus the last one", without_last(backend, n)
    yield ("check_rm", "check_rm", "any words, and m in [0, 2]",
           "r, and a failure if r is not ternary" + ("" if n in HRSS else " or m has another weight"),
           checked(backend, n))
    yield "select", "select", "any bytes", "K, or the rejection secret after a failure", selected(backend, n)
    yield "load_c_sk", "load_c_sk", "any bytes", "c, f, 1/f, 1/h, and whether c is padded", loaded(backend, n)
