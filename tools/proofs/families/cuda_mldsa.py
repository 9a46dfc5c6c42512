# SPDX-License-Identifier: Apache-2.0
"""ML-DSA's inverse transform, packing, candidates and sums of products in the GPU code's headers, compiled for the host
with the lanes of a polynomial one after the other: cuda_warp.hpp."""

from __future__ import annotations

from collections.abc import Iterator

from proofs.algebra.facts import Form
from proofs.algebra.ranges import Facts
from proofs.algebra.terms import Term, concat, const, extract, keep_sums_whole, sub, zext
from proofs.claims import Claim, Proof, Run
from proofs.families.cuda import claim, congruent, expect
from proofs.families.cuda_records import expect_alike, for_alignments, record, unpacked
from proofs.families.mldsa import D, N, Q, inverse
from proofs.families.packing import packed
from proofs.machines.memory import Library

EXCHANGE_BYTES = 2048


class Layers:
    """Finds facts about sums with constants before those about what is made of them: a product's operand a - b + k q
    has a difference as its source, and would be no source itself."""

    def __init__(self, facts: Facts) -> None:
        self.facts, self.seen = facts, set[Term]()

    def visit(self, root: Term) -> None:
        stack = [root]
        while stack:
            term = stack[-1]
            waiting = [arg for arg in term.args if arg not in self.seen] if term not in self.seen else []
            if waiting:
                stack += waiting
                continue
            stack.pop()
            if term not in self.seen and term.op == "add" and term.args[1].value is not None:
                self.facts.fact(term.args[0])
                self.facts.fact(term)
            self.seen.add(term)


def inverse_transform(library: Library, function: str) -> None:
    """2^32 times the inverse."""
    keep_sums_whole()
    run = Run(library, Q)
    out, a, exchange = run.space(), run.unknown("a", N, 0, 2 * Q - 1, 32), run.workspace(EXCHANGE_BYTES)
    run.machine.call(function, out, a.address, exchange)
    layers = Layers(run.facts)
    for n, row in enumerate(inverse(1 << 32)):
        layers.visit(run.result(out, n, 32))
        form: Form = {(a.first + j,): factor for j, factor in enumerate(row)}
        expect(run, run.result(out, n, 32), form, (0, Q - 1), f"coefficient {n}")


def below(bits: int) -> Proof:
    """[FIPS204, Alg 19], plus q"""

    def prove(run: Run, function: str, skip: int) -> None:
        address, fields = record(run, N, bits, skip)
        out, top = run.space(), 1 << bits - 1
        run.machine.call(function, out, address, top)
        for n, field in enumerate(fields.words):
            run.expect_same(run.result(out, n, 32), sub(const(Q + top, 32), zext(field, 32)), f"word {n}")

    return for_alignments(prove)


def w1(bits: int) -> Proof:
    """[FIPS204, Alg 28]"""

    def prove(library: Library, function: str) -> None:
        run = Run(library, Q)
        out, fields = run.space(), run.fields("w", N, bits)
        run.machine.call(function, out, run.store(fields.words, 32), run.workspace(EXCHANGE_BYTES))
        run.expect_packed(out, fields.words)

    return prove


def small(bits: int, eta: int, sign: int) -> Proof:
    """eta less fields, or the negatives, as signed bytes. [FIPS204, Alg 19]"""

    def prove(run: Run, function: str, skip: int) -> None:
        address, fields = record(run, N, bits, skip)
        out, known = run.space(), set()
        run.machine.call(function, out, address)
        for n, field in enumerate(fields.words):
            a, b = (const(eta, 8), zext(field, 8))[::sign]
            beside = fields.words[n // 4 * 4:n // 4 * 4 + 4]
            expect_alike(run, run.result(out, n, 8), beside, sub(a, b), known, f"byte {n}")

    return for_alignments(prove)


def t0(run: Run, function: str, skip: int) -> None:
    """2^12 less fields: the low seven bits and a signed byte of the others. [FIPS204, Alg 19]"""
    address, fields = record(run, N, D, skip)
    low, high = run.space(), run.space()
    run.machine.call(function, low, high, address)
    for n, field in enumerate(fields.words):
        value = sub(const(1 << D - 1, 15), zext(field, 15))
        run.expect_same(run.result(low, n, 8), zext(extract(value, 6, 0), 8), f"low byte {n}")
        run.expect_same(run.result(high, n, 8), extract(value, 14, 7), f"high byte {n}")


def candidates(library: Library, function: str) -> None:
    """[FIPS204, Alg 14], without the rejection"""
    run = Run(library, Q)
    out, data = run.space(), run.unknown("b", 200, 0, 255, 8).words
    address = run.store(data, 8)
    run.machine.call(function, out, address)
    for n in range(56):
        b0, b1, b2 = data[3 * n:3 * n + 3]
        run.expect_same(run.result(out, n, 32), zext(concat(extract(b2, 6, 0), b1, b0), 32), f"candidate {n}")


def products(terms: int) -> Proof:
    """2^-32 times sums of products."""

    def prove(library: Library, function: str) -> None:
        keep_sums_whole()
        run = Run(library, Q)
        out, scale = run.space(), pow(1 << 32, -1, Q)
        a, b = run.unknown("a", terms * N, 0, Q - 1, 32), run.unknown("b", terms * N, 0, 18 * Q - 1, 32)
        run.machine.call(function, out, a.address, b.address, terms)
        for n in range(N):
            form: Form = {(a.first + i * N + n, b.first + i * N + n): scale for i in range(terms)}
            expect(run, run.result(out, n, 32), form, (0, 2 * Q - 1), f"coefficient {n}")

    return prove


def claims() -> Iterator[Claim]:
    """Yields what is claimed of ML-DSA's GPU code."""
    yield claim("mldsa inverse", "mldsa_inverse", "words in [0, 2 q)", "2^32 times the inverse, in [0, q)",
                inverse_transform, is_long=True)
    for bits in (3, 4, 10, 13, 18, 20):
        yield claim(f"mldsa pack {bits} bits", f"mldsa_pack_{bits}", f"words below 2^{bits}", "their bits, in order",
                    packed(bits, 32))
        yield claim(f"mldsa unpack {bits} bits", f"mldsa_unpack_{bits}", "any bytes, at any alignment",
                    "words of their bits, in order", unpacked(N, bits, 32), bits not in (10, 13))
    for bits in (18, 20):
        yield claim(f"mldsa unpack below {bits} bits", f"mldsa_unpack_below_{bits}", "any bytes, at any alignment",
                    f"2^{bits - 1} minus the words of their bits, plus q", below(bits), bits == 18)
    for bits in (4, 6):
        yield claim(f"mldsa w1 of {bits} bits", f"mldsa_w1_{bits}", f"words below 2^{bits}", "their bits, in order",
                    w1(bits))
    for eta, bits in ((2, 3), (4, 4)):
        for sign, name in ((1, "small"), (-1, "negative")):
            yield claim(f"mldsa {name} bytes, eta = {eta}", f"mldsa_{name}_{eta}", "any bytes, at any alignment",
                        f"signed bytes: {'minus ' if sign < 0 else ''}({eta} less each field)",
                        small(bits, eta, sign))
    yield claim("mldsa t0 bytes", "mldsa_t0_bytes", "any bytes, at any alignment",
                "7 bits and signed bytes of 2^12 less each field", for_alignments(t0))
    yield claim("mldsa candidates", "mldsa_candidates", "any bytes", "integers of 23 bits of three bytes each",
                candidates)
    yield claim("mldsa reduce twice", "mldsa_reduced_twice", "words in [0, 3 q)", "the words, in [0, q)",
                congruent(Q, 1, (0, 3 * Q - 1), (0, Q - 1)))
    for terms in (4, 7):
        yield claim(f"mldsa products, {terms}", "mldsa_products", "a in [0, q), b in [0, 18 q)",
                    "2^-32 times the sum of products, in [0, 2 q)", products(terms), terms > 4)
