# SPDX-License-Identifier: Apache-2.0
"""Arithmetic of the GPU code's headers, src/**/cuda, compiled for the host: of words, and of transforms with the lanes
of a polynomial one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from proofs.algebra.facts import Form, OtherRange, OtherResult
from proofs.algebra.terms import Term, const, keep_sums_whole
from proofs.claims import Claim, Proof, Run, Values
from proofs.families import mldsa, mlkem
from proofs.machines.memory import Library

ROWS = 8  # words of a function that takes each word alone


def claim(what: str, function: str, inputs: str, result: str, proof: Proof, is_long: bool = False) -> Claim:
    return Claim(f"cuda {what}", f"cuda_{function}", inputs, result, proof, inlined=True, is_long=is_long)


def expect(run: Run, term: Term, form: Form, results: tuple[int, int], what: str) -> None:
    """Raises NotProved unless a word as an unsigned integer is congruent to a form, and in a range."""
    fact = run.facts.as_unsigned(run.facts.fact(term), term.width)
    if fact is None or fact.form != form:
        raise OtherResult(f"{what} is not what the specification says")
    if not results[0] <= fact.low <= fact.high <= results[1]:
        raise OtherRange(f"{what} is in [{fact.low}, {fact.high}], expected {list(results)}")


def linear(q: int, rows: Callable[[], mlkem.Rows], inputs: tuple[int, int], results: tuple[int, int]) -> Proof:
    """In place, on a polynomial of 256 words: each result is a sum of inputs times factors."""

    def prove(library: Library, function: str) -> None:
        keep_sums_whole()
        run = Run(library, q)
        a = run.unknown("a", 256, *inputs, 32)
        run.machine.call(function, a.address)
        for n, row in enumerate(rows()):
            form: Form = {(a.first + j,): factor for j, factor in row.items()}
            expect(run, run.result(a.address, n, 32), form, results, f"coefficient {n}")

    return prove


def each_word(inputs: tuple[int, int], expected: Callable[[Values], Values]) -> Proof:
    """In place, word by word."""

    def prove(library: Library, function: str) -> None:
        run = Run(library, 3)
        a = run.unknown("a", ROWS, *inputs, 32)
        run.machine.call(function, a.address)
        for n, word in enumerate(a.words):
            run.expect_table(run.result(a.address, n, 32), word, expected, f"word {n}")

    return prove


def congruent(q: int, factor: int, inputs: tuple[int, int], results: tuple[int, int], width: int = 32) -> Proof:
    """Words of `width` bits times a factor, mod q, as words of 32 bits: beside those of 64 bits, else in place."""

    def prove(library: Library, function: str) -> None:
        keep_sums_whole()
        run = Run(library, q)
        out = run.space() if width > 32 else 0
        a = run.unknown("a", ROWS, *inputs, width)
        run.machine.call(function, *([out] if out else []), a.address)
        for n in range(ROWS):
            expect(run, run.result(out or a.address, n, 32), {(a.first + n,): factor % q}, results, f"word {n}")

    return prove


def products(terms: int) -> Proof:
    """ML-KEM's sums of products of transforms. They have the form of integers, which is checked mod q."""

    def prove(library: Library, function: str) -> None:
        keep_sums_whole()
        run, q = Run(library, mlkem.Q), mlkem.Q
        sums = run.store([const(0, 32)] * 256, 32)
        a, y = run.unknown("a", 256 * terms, 0, 4095, 32), run.unknown("y", 256 * terms, 0, 9 * q - 1, 32)
        run.machine.call(function, sums, a.address, y.address, terms)
        for n in range(256):
            form: Form = {(a.first + term * 256 + i, y.first + term * 256 + j): factor
                          for term in range(terms) for i, j, factor in mlkem.terms_of_product(n)}
            expect(run, run.result(sums, n, 32), form, (0, (1 << 30) - 1), f"coefficient {n}")

    return prove


def _dense(rows: list[list[int]]) -> list[dict[int, int]]:
    return [dict(enumerate(row)) for row in rows]


def claims() -> Iterator[Claim]:
    """Yields what is claimed of the GPU code's arithmetic."""
    q, any_word = mlkem.Q, (0, (1 << 32) - 1)
    yield claim("mlkem transform", "mlkem_transform", "words in [0, 2 q)", "the transform, in [0, 9 q)",
                linear(q, mlkem.transform, (0, 2 * q - 1), (0, 9 * q - 1)))
    yield claim("mlkem inverse", "mlkem_inverse", "any words", "the inverse, in [0, q)",
                linear(q, lambda: mlkem.inverse(1), any_word, (0, q - 1)))
    yield claim("mlkem products, 4", "mlkem_products", "a below 2^12, y in [0, 9 q)", "sums of products, below 2^30",
                products(4))
    yield claim("mlkem reduce small", "mlkem_reduce_small", "words below (2^32 - 1) / q", "the words, in [0, q)",
                congruent(q, 1, (0, any_word[1] // q - 1), (0, q - 1)))
    for bits in (1, 4, 5, 10, 11):
        yield claim(f"mlkem compress {bits}", f"mlkem_compress_{bits}", "words in [0, 3 q)", "FIPS 203, (4.7)",
                    each_word((0, 3 * q - 1), mlkem.compressed(bits)))
        yield claim(f"mlkem decompress {bits}", f"mlkem_decompress_{bits}", f"words below 2^{bits}", "FIPS 203, (4.8)",
                    each_word((0, (1 << bits) - 1), mlkem.decompressed(bits)))
    q = mldsa.Q
    yield claim("mldsa transform", "mldsa_transform", "words in [0, 2 q)", "the transform, in [0, 18 q)",
                linear(q, lambda: _dense(mldsa.transform()), (0, 2 * q - 1), (0, 18 * q - 1)), is_long=True)
    yield claim("mldsa divide by 2^32", "mldsa_divide", "words in [0, 422 q^2)", "2^-32 times the words, in [0, 2 q)",
                congruent(q, pow(1 << 32, -1, q), (0, 422 * q * q - 1), (0, 2 * q - 1), 64))
    yield claim("mldsa reduce once", "mldsa_reduced_once", "words in [0, 2 q)", "the words, in [0, q)",
                congruent(q, 1, (0, 2 * q - 1), (0, q - 1)))
