# SPDX-License-Identifier: Apache-2.0
"""Records and bytes in the GPU code's headers, src/**/cuda, compiled for the host with the lanes of a warp one after
the other (cuda_warp.hpp): what the claims about the families share."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from proofs.algebra.facts import NotProved
from proofs.algebra.terms import Term, add, concat, const, extract, shape, zext
from proofs.claims import Array, Proof, Run, Values
from proofs.machines.memory import Library

Q = 3  # no result is a number mod q
ALIGNMENTS = range(4)


def record(run: Run, count: int, bits: int, skip: int) -> tuple[int, Array]:
    """Returns the address of fields side by side, `skip` bytes after a word's beginning, and the fields. Bytes beside
    them, and bits after the last one, are unknown."""
    fields, size = run.fields("a", count, bits), -(-count * bits // 8)
    address = run.workspace(size + 16) + skip
    beyond = run.fields("beyond", 8 * size - count * bits, 1)
    stream = concat(*reversed(fields.words + beyond.words))
    run.machine.memory.store(address, [(extract(stream, 8 * n + 7, 8 * n), 0) for n in range(size)])
    return address, fields


def for_alignments(prove: Callable[[Run, str, int], None]) -> Proof:
    """For a record that begins anywhere in a word."""

    def proofs(library: Library, function: str) -> None:
        for skip in ALIGNMENTS:
            prove(Run(library, Q), function, skip)

    return proofs


def unpacked(count: int, bits: int, width: int, masked: bool = True) -> Proof:
    """Fields become words; unless masked, their upper bits may be any."""

    def prove(run: Run, function: str, skip: int) -> None:
        address, fields = record(run, count, bits, skip)
        out = run.space()
        run.disregard(out, -(-count // 8) * width)
        run.machine.call(function, out, address)
        for n, field in enumerate(fields.words):
            word = run.result(out, n, width)
            run.expect_same(word if masked else extract(word, bits - 1, 0), zext(field, width) if masked else field,
                            f"word {n}")

    return for_alignments(prove)


def each_byte(expected: Callable[[Values], Values]) -> Proof:
    """In place, byte by byte of eight words."""

    def prove(library: Library, function: str) -> None:
        run = Run(library, Q)
        a = run.unknown("a", 32, 0, 255, 8)
        run.machine.call(function, a.address)
        for n, byte in enumerate(a.words):
            run.expect_table(run.result(a.address, n, 8), byte, expected, f"byte {n}")

    return prove


def each_byte_formula(expected: Callable[[Term], Term]) -> Proof:
    """In place, byte by byte of eight words. The solver sees that no byte takes a carry from the one below."""

    def prove(library: Library, function: str) -> None:
        run, known = Run(library, Q), set()
        a = run.unknown("a", 32, 0, 255, 8)
        run.machine.call(function, a.address)
        for n, byte in enumerate(a.words):
            beside = a.words[n // 4 * 4:n // 4 * 4 + 4]
            expect_alike(run, run.result(a.address, n, 8), beside, expected(byte), known, f"byte {n}")

    return prove


def sum_of(bits: Sequence[Term], width: int) -> Term:
    total = const(0, width)
    for bit in bits:
        total = add(total, zext(bit, width))
    return total


def expect_alike(run: Run, term: Term, sources: Sequence[Term], expected: Term, known: set[object], what: str) -> None:
    """Raises NotProved unless a result is an expected function of sources; those that are the same function of theirs
    are looked at once."""
    key = shape(term, sources), shape(expected, sources)
    if None in key:
        raise NotProved(f"{what} depends on more than {', '.join(map(str, sources))}")
    if key not in known:
        run.expect_same(term, expected, what)
        known.add(key)


def expect_bytes(run: Run, address: int, expected: Sequence[Term], what: str) -> None:
    for n, byte in enumerate(expected):
        run.expect_same(run.result(address, n, 8), byte, f"byte {n} of {what}")
