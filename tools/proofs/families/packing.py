# SPDX-License-Identifier: Apache-2.0
"""Packing of words into bytes, the lowest bits first, as FIPS 203, FIPS 204 and Saber do it."""

from __future__ import annotations

from proofs.algebra.terms import concat, const, sub, zext
from proofs.claims import Proof, Run
from proofs.machines.memory import Library

N, Q = 256, 3  # no result is a number mod q


def packed(bits: int, width: int, top: int | None = None, masks: bool = False) -> Proof:
    """Words of `width` bits, or a top minus them, have `bits` bits, which are packed; masks: words have any bits above
    those. [FIPS203, Alg 5; FIPS204, Alg 16, Alg 17]"""

    def prove(library: Library, function: str) -> None:
        run = Run(library, Q)
        out, fields = run.space(), run.fields("a", N, bits)
        above = run.fields("more", N if masks else 0, width - bits)
        words = [concat(*more, field) for more, field in zip(zip(above.words), fields.words)] if masks else [
            zext(field, width) for field in fields.words]
        if top is None:
            run.machine.call(function, out, run.store(words, width))
        else:
            run.machine.call(function, out, run.store([sub(const(top, width), word) for word in words], width), top)
        run.expect_packed(out, fields.words)

    return prove


def unpacked(bits: int, width: int, top: int | None = None) -> Proof:
    """The inverse. [FIPS203, Alg 6; FIPS204, Alg 18, Alg 19]"""

    def prove(library: Library, function: str) -> None:
        run = Run(library, Q)
        out, fields = run.space(), run.stream("a", N, bits)
        run.machine.call(function, out, fields.address, *(() if top is None else (top,)))
        for n, field in enumerate(fields.words):
            word = zext(field, width)
            expected = word if top is None else sub(const(top, width), word)
            run.expect_same(run.result(out, n, width), expected, f"word {n}")

    return prove
