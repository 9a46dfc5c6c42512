# SPDX-License-Identifier: Apache-2.0
"""Operands of tensor cores in the GPU code's headers, compiled for the host: the copies in shared memory that products
read."""

from __future__ import annotations

from collections.abc import Iterator

from proofs.algebra.terms import extract, zext
from proofs.claims import Claim, Proof, Run
from proofs.families.cuda import claim
from proofs.families.cuda_records import Q, expect_bytes
from proofs.machines.memory import Library, bytes_of


def negacyclic(n: int) -> Proof:
    """What negacyclic.cuh says of its copies: p[x + 8 s] at x, and r[s - x], with the negatives beyond the ends."""

    def prove(library: Library, function: str) -> None:
        run = Run(library, Q)
        plain, backward = run.space(), run.space()
        arrays = [run.unknown(name, n, 0, 255, 8) for name in ("a", "minus")]
        front = n // 2 - 64 + 8
        copy = (n + front + 95) // 128 * 128 + 32
        run.disregard(plain, 2 * (n + 64))
        run.disregard(backward, 4 * copy)
        run.machine.call(function, plain, backward, *(array.address for array in arrays))
        of, minus = (array.words for array in arrays)
        for s in range(2):
            expect_bytes(run, plain + s * (n + 64), (of + minus)[8 * s:8 * s + n + 48], f"copy {s}")
        for s in range(4):
            expected = [(minus + of)[n + s - x] for x in range(4 - front, n)]
            expect_bytes(run, backward + 4 + s * copy, expected, f"reversed copy {s}")

    return prove


def cyclic(n: int, ternary: bool) -> Proof:
    """What limbs.cuh says of its copies, of bytes that the products use: p[(x + 8 s) mod n] at x, or r[(s - x) mod n].
    A row's words have two bytes. In ternary products p is the low bytes of b, and a is 7 bits and 7 more."""
    steps, tiles = -(-n // 32), (-(-n // 64) + 1) // 2
    plain_copy = (32 * (steps + 2 * tiles - 2) + 64 * tiles + 56 + 63) // 128 * 128 + 64
    reversed_copy = (8 + steps * 32 + 8 + 95) // 128 * 128 + 32

    def prove(library: Library, function: str) -> None:
        run = Run(library, Q)
        shared, rows = run.workspace(1 << 16), [run.workspace(4096) for _ in range(2)]
        a, b = (run.fields(name, n, 16).words for name in "ab")
        for at, words in zip(rows, (a, b)):
            for i, word in enumerate(words):
                run.machine.memory.store(at + 2 * i, bytes_of(word))
        run.machine.call(function, shared, *rows)
        whole = [[extract(word, 8 * limb + 7, 8 * limb) for word in words] for words in (a, b) for limb in range(2)]
        halves = [[zext(extract(word, 7 * limb + 6, 7 * limb), 8) for word in a] for limb in range(2)]
        plain, reverse = (whole[2:3], halves) if ternary else (whole[:2], whole[2:])
        for limb, of in enumerate(plain):
            for s in range(2):
                last = n - 1 + 8 * ((n - 1) // 8 - s)  # the largest u + 8 k
                expect_bytes(run, shared + (2 * limb + s) * plain_copy,
                             [of[(x + 8 * s) % n] for x in range(last - 7)], f"copy {s} of limb {limb}")
        shared += len(plain) * 2 * plain_copy
        for limb, of in enumerate(reverse):
            for s in range(4):
                expect_bytes(run, shared + 4 + (4 * limb + s) * reversed_copy,
                             [of[(s - x) % n] for x in range(-4, n)], f"reversed copy {s} of limb {limb}")

    return prove


def claims() -> Iterator[Claim]:
    """Yields what is claimed of the GPU code's operands of tensor cores."""
    for n in (256, 512, 1024):
        yield claim(f"negacyclic operands, n = {n}", f"negacyclic_{n}", "any bytes of p and -p",
                    "their copies, in order and in reverse order", negacyclic(n), n > 512)
    for n in (509, 677, 701, 821, 1229, 1373):
        for ternary, name in ((False, "limbs"), (True, "limbs_ternary")):
            yield claim(f"ntru {name.replace('_', ' ')}, n = {n}", f"{name}_{n}", "any words",
                        "their bytes' copies, in order and in reverse order", cyclic(n, ternary), n != 509)
