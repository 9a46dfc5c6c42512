# SPDX-License-Identifier: Apache-2.0
"""What src/ct computes in constant time: whether bytes differ, and one of two secrets by a mask."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from proofs.algebra.decisions import causes
from proofs.algebra.evaluation import evaluate
from proofs.algebra.facts import NotProved, OtherResult
from proofs.algebra.rewriting import Grouped
from proofs.algebra.terms import Term, bitwise, compare, const, ite, keep_sums_whole, sext, variable
from proofs.claims import Claim, Proof, Run
from proofs.machines.memory import Library, bytes_of

CIPHERTEXTS = (768, 1568)  # of ML-KEM: whole registers, and some bytes more
SECRETS = (16, 32, 24)
MASK = 0xFFFF_FFFF


def nonzero(library: Library, function: str) -> None:
    """mask_nonzero(): all ones if a word is not zero, else 0."""
    run = Run(library, 3)
    out, x = run.space(), run.unknown("x", 1, 0, MASK, 32)
    run.machine.call(function, out, x.address)
    is_zero = compare("eq", x.words[0], const(0, 32))
    run.expect_same(run.result(out, 0, 32), ite(is_zero, const(0, 32), const(MASK, 32)), "the mask")


def different(count: int) -> Proof:
    """mask_different(): all ones if one of the pairs of bytes differs, else 0."""

    def prove(library: Library, function: str) -> None:
        keep_sums_whole()
        run = Run(library, 3)
        out, a, b = run.space(), run.unknown("a", count, 0, 255, 8), run.unknown("b", count, 0, 255, 8)
        run.machine.call(function, out, a.address, b.address, count)
        expect_mask(run.result(out, 0, 32), {bitwise("xor", x, y) for x, y in zip(a.words, b.words)})

    return prove


def expect_mask(mask: Term, differences: set[Term]) -> None:
    """Raises NotProved unless a mask is all ones where one of the terms is not zero, else 0."""
    any_of_them = Grouped().base(mask)
    if any_of_them is None or any_of_them.width > 16:
        raise NotProved("the mask depends on more than a few bits")
    values = np.arange(1 << any_of_them.width, dtype=np.uint64)
    if np.any(evaluate(mask, {any_of_them: values}) != np.where(values, MASK, 0)):
        raise OtherResult("the mask is another function of all differences")
    if causes(any_of_them) != differences:
        raise NotProved("the mask depends on other differences")


def select(library: Library, function: str) -> None:
    """select_bytes(): the second secret if the mask is all ones, the first if it is 0."""
    for count in SECRETS:
        run = Run(library, 3)
        out, a, b = run.space(), run.unknown("a", count, 0, 255, 8), run.unknown("b", count, 0, 255, 8)
        bit = variable("mask", 1) if run.drawn is None else const(run.drawn.getrandbits(1), 1)
        mask = run.space()
        run.machine.memory.store(mask, bytes_of(sext(bit, 32)))
        run.machine.call(function, out, a.address, b.address, count, mask)
        for at, (x, y) in enumerate(zip(a.words, b.words)):
            run.expect_same(run.result(out, at, 8), ite(bit, y, x), f"byte {at}")


def claims() -> Iterator[Claim]:
    """Yields what is claimed of comparisons and selections."""
    for isa, name in (("portable", "ref"), ("avx2", "avx2"), ("avx512", "avx512")):
        yield Claim(f"ct {name} mask of a word", f"{isa}_ct_nonzero", "any word", "all ones if it is not 0, else 0",
                    nonzero, inlined=True)
        for count in CIPHERTEXTS:
            yield Claim(f"ct {name} compare {count}", f"{isa}_ct_different", "any bytes",
                        "all ones if they differ, else 0", different(count), inlined=True)
        yield Claim(f"ct {name} select", f"{isa}_ct_select", "16, 24 or 32 bytes, and a mask",
                    "the bytes that it selects", select, inlined=True)
