# SPDX-License-Identifier: Apache-2.0
"""Reductions, signs, compression and e2 in the GPU code's headers of LAC, compiled for the host."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from proofs.algebra.terms import Term, add, compare, concat, const, extract, ite, mul, sub, zext
from proofs.claims import Claim, Proof, Run
from proofs.families import lac
from proofs.families.cuda import claim, congruent
from proofs.families.cuda_records import Q, each_byte_formula, expect_alike, expect_bytes, for_alignments
from proofs.machines.memory import Library


def loaded(n: int) -> Proof:
    def prove(run: Run, function: str, skip: int) -> None:
        address = run.workspace(n + 16) + skip
        data = run.unknown("b", n, 0, 255, 8, at=address)
        out = run.space()
        run.machine.call(function, out, address, run.workspace(8192))
        expect_bytes(run, out, data.words, "the record")

    return for_alignments(prove)


def compressed(library: Library, function: str) -> None:
    """[LAC19]"""
    run = Run(library, Q)
    out, words = run.space(), run.unknown("x", 16, 0, lac.Q - 1, 8)
    run.machine.call(function, out, words.address)
    for n in range(8):
        run.expect_table(run.result(out, n, 8), words.words[2 * n:2 * n + 2], lac.compressed, f"byte {n}")


def spread(library: Library, function: str) -> None:
    run = Run(library, Q)
    x = run.fields("x", 8 * 16, 1)
    halves = [concat(*reversed(x.words[16 * n:16 * n + 16])) for n in range(8)]
    address = run.store(halves, 32)
    run.machine.call(function, address)
    for n in range(8):
        pairs = [concat(const(0, 1), bit) for bit in x.words[16 * n:16 * n + 16]]
        run.expect_same(run.result(address, n, 32), concat(*reversed(pairs)), f"word {n}")


def noise2(of: lac.Set) -> Proof:
    """e2, and 125 times bits. [LAC19]"""

    def prove(library: Library, function: str) -> None:
        run, count, parts = Run(library, Q), of.second, 2 * of.noise_factors
        out, size = run.space(), -(-count // 32) * 32
        run.disregard(out, size)
        bits, code = run.fields("b", parts * count, 1), run.fields("c", size, 1)
        stream = bits.words + [const(0, 1)] * (-len(bits.words) % 128)
        addresses = [run.store([concat(*reversed(words[n:n + 32])) for n in range(0, len(words), 32)], 32)
                     for words in (stream, code.words)]
        run.machine.call(function, out, *addresses)
        known: set[object] = set()
        for at in range(count):
            beside = [word for n in range(at & ~3, min(at | 3, count - 1) + 1)
                      for word in (*bits.words[n::count][:parts], code.words[n])]
            e = difference_of(bits.words[at::count][:parts], 8)
            expected = add(e, ite(code.words[at], const(lac.BIT_VALUE, 8), const(0, 8)))
            expect_alike(run, run.result(out, at, 8), beside, expected, known, f"coefficient {at}")

    return prove


def difference_of(bits: Sequence[Term], width: int) -> Term:
    """b0 - b1, or (b0 - b1) (b2 - b3)."""
    factors = [sub(zext(a, width), zext(b, width)) for a, b in zip(bits[::2], bits[1::2])]
    return factors[0] if len(factors) == 1 else mul(*factors)


def ternary_of(byte: Term) -> Term:
    """0, 1, 0, -1 for 0, 1, 2, 3 mod 4. [LAC19]"""
    return ite(extract(byte, 0, 0), ite(extract(byte, 1, 1), const(-1, 8), const(1, 8)), const(0, 8))


def negative_of(byte: Term) -> Term:
    return sub(const(0, 8), ternary_of(byte))


def mod_251(byte: Term) -> Term:
    return ite(compare("ult", byte, const(lac.Q, 8)), byte, sub(byte, const(lac.Q, 8)))


def claims() -> Iterator[Claim]:
    """Yields what is claimed of LAC's GPU code."""
    yield claim("lac signs", "lac_signs", "any bytes", "0, 1, 0, -1 for 0, 1, 2, 3 mod 4",
                each_byte_formula(ternary_of))
    yield claim("lac negated signs", "lac_negated_signs", "any bytes", "their negatives",
                each_byte_formula(negative_of))
    yield claim("lac bytes mod 251", "lac_reduced_bytes", "any bytes", "the bytes mod 251", each_byte_formula(mod_251))
    most = 1024 * (lac.Q - 1) + 127
    yield claim("lac reduction", "lac_reduced", f"words in [-{most}, {most}]", "the words mod 251, in [0, 250]",
                congruent(lac.Q, 1, (-most, most), (0, lac.Q - 1)))
    yield claim("lac compression", "lac_compressed", "words in [0, 250]", "four bits of each", compressed)
    yield claim("lac bits apart", "lac_spread_bits", "any 16 bits", "a zero after each", spread)
    for number, n in ((0, 512), (1, 1024)):
        yield claim(f"lac load {n} bytes", f"lac_load_{number}", "any bytes, at any alignment", "the bytes",
                    loaded(n), number > 0)
    for of in lac.SETS:
        yield claim(f"lac e2 and code {of.name}", f"lac_noise2_{of.number}", "any bits",
                    "differences of bits, or products of two, plus 125 bits", noise2(of), of.name == 256)
