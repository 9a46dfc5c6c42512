# SPDX-License-Identifier: Apache-2.0
"""FrodoKEM's coding of messages in coefficients."""

from __future__ import annotations

from collections.abc import Iterator

from proofs.algebra.terms import const, concat, zext
from proofs.claims import ANY_WORD, Claim, Proof, Run, Values
from proofs.families.frodo import Q
from proofs.machines.memory import Library

COEFFICIENTS = 64
SETS = {640: (15, 2), 976: (16, 3), 1344: (16, 4)}  # D and B of [FRODO21, Table 1]


def encoded(log_q: int, bits: int) -> Proof:
    """B bits k of the message become k 2^(D - B). [FRODO21, Alg 1]"""

    def prove(library: Library, function: str) -> None:
        run = Run(library, Q)
        out, fields = run.space(), run.stream("mu", COEFFICIENTS, bits)
        run.machine.call(function, out, fields.address)
        for n, field in enumerate(fields.words):
            run.expect_same(run.result(out, n), zext(concat(field, const(0, log_q - bits)), 16), f"word {n}")

    return prove


def decoded(log_q: int, bits: int) -> Proof:
    """Words c become B bits each, c 2^B / q rounded, mod 2^B. [FRODO21, Alg 2]"""

    def nearest(c: Values) -> Values:
        return ((c % (1 << log_q)) * (1 << bits) + (1 << log_q - 1) >> log_q) % (1 << bits)

    def prove(library: Library, function: str) -> None:
        run = Run(library, Q)
        out, words = run.space(), run.unknown("c", COEFFICIENTS, *ANY_WORD)
        run.machine.call(function, out, words.address)
        for n, word in enumerate(words.words):
            run.expect_table(run.field(out, n, bits), word, nearest, f"field {n}")

    return prove


def claims() -> Iterator[Claim]:
    """Yields what is claimed of messages."""
    for n, size in SETS.items():
        yield Claim(f"frodo ref encode {n}", f"portable_frodo_encode_{n}", "any bytes", "Algorithm 1", encoded(*size),
                    inlined=True)
        yield Claim(f"frodo ref decode {n}", f"portable_frodo_decode_{n}", "any words", "Algorithm 2", decoded(*size),
                    inlined=True)
