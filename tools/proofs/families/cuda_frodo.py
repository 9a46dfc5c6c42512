# SPDX-License-Identifier: Apache-2.0
"""Packing, unpacking and errors in the GPU code's headers of FrodoKEM, compiled for the host."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from proofs.algebra.terms import Term, compare, concat, const, extract, ite, sub, zext
from proofs.claims import Claim, Proof, Run
from proofs.families import frodo
from proofs.families.cuda import claim
from proofs.families.cuda_records import Q, expect_alike, for_alignments, sum_of
from proofs.machines.memory import Library, bytes_of


def packed(bits: int) -> Proof:
    """[FRODO21, Alg 3]"""

    def prove(library: Library, function: str) -> None:
        run = Run(library, Q)
        out, words = run.space(), run.unknown("c", 64, *frodo.ANY_WORD).words
        run.machine.call(function, out, run.store(words))
        for n in range(8 * bits):
            expected = concat(*(extract(words[at // bits], bits - 1 - at % bits, bits - 1 - at % bits)
                                for at in range(8 * n, 8 * n + 8)))
            run.expect_same(run.result(out, n, 8), expected, f"byte {n}")

    return prove


def unpacked(bits: int) -> Proof:
    """[FRODO21, Alg 4]"""

    def prove(run: Run, function: str, skip: int) -> None:
        address = run.workspace(8 * bits + 16) + skip
        data, out = run.unknown("b", 8 * bits, 0, 255, 8, at=address).words, run.space()
        run.machine.call(function, out, address)
        for n in range(64):
            stream = (divmod(at, 8) for at in range(n * bits, (n + 1) * bits))
            expected = concat(*(extract(data[i], 7 - bit, 7 - bit) for i, bit in stream))
            run.expect_same(run.result(out, n), zext(expected, 16), f"word {n}")

    return for_alignments(prove)


def sampled(n: int) -> Proof:
    """[FRODO21, Alg 5]"""

    def prove(library: Library, function: str) -> None:
        run, cdf = Run(library, Q), frodo.CDF[n]
        words, out, table = run.unknown("r", 32, *frodo.ANY_WORD), run.space(), run.space()
        run.machine.memory.store(table, bytes_of(const(len(cdf), 64)))
        for at, bound in enumerate(cdf + (0,) * (13 - len(cdf))):
            run.machine.memory.store(table + 8 + 2 * at, bytes_of(const(bound, 16)))
        run.machine.call(function, out, words.address, table)
        known: set[object] = set()
        for at, word in enumerate(words.words):
            beside = words.words[at // 4 * 4:at // 4 * 4 + 4]
            expect_alike(run, run.result(out, at, 8), beside, error_of(word, cdf), known, f"error {at}")

    return prove


def error_of(word: Term, cdf: Sequence[int]) -> Term:
    """The number of bounds, but the last one, that the upper 15 bits are above; the lowest bit is the sign."""
    above = [compare("ult", const(bound, 15), extract(word, 15, 1)) for bound in cdf[:-1]]
    size = sum_of(above, 8)
    return ite(extract(word, 0, 0), sub(const(0, 8), size), size)


def claims() -> Iterator[Claim]:
    """Yields what is claimed of FrodoKEM's GPU code."""
    for bits in (15, 16):
        yield claim(f"frodo pack {bits} bits", f"frodo_pack_{bits}", "any words", "their low bits, in order",
                    packed(bits))
        yield claim(f"frodo unpack {bits} bits", f"frodo_unpack_{bits}", "any bytes, at any alignment",
                    "words with their bits, in order", unpacked(bits))
    for n in frodo.CDF:
        yield claim(f"frodo errors of {n}", f"frodo_sample_{n}", "any words", "Algorithm 5, as signed bytes",
                    sampled(n))
