# SPDX-License-Identifier: Apache-2.0
"""NTRU's ternary products of interleaved items: the smallest ones, of which Karatsuba's method makes others. A row is a
coefficient of many polynomials: a register of first bits and one of second bits (gf3.py)."""

from __future__ import annotations

from collections.abc import Iterator

from proofs.algebra.facts import NotProved, OtherResult
from proofs.algebra.gf3 import Elements
from proofs.algebra.terms import Term, const, variable
from proofs.claims import REGISTER, Claim, Proof, Run
from proofs.machines.memory import Library

LEAF = 8  # coefficients of the smallest products, for n = 509
WIDTH = 64  # of a lane; one is proved, for all


def rows(run: Run, elements: Elements, name: str, count: int, first: int, size: int) -> int:
    """Returns the address of any elements, the inputs from number `first` on."""
    address = run.space()
    for i in range(count):
        pair = [variable(f"{name}[{i}].{bit}", WIDTH) if run.drawn is None else
                const(run.drawn.getrandbits(WIDTH), WIDTH) for bit in ("nonzero", "negative")]
        for n, word in enumerate(pair):
            run.machine.memory.store(address + (2 * i + n) * size, run.machine.lanes_alike(word, size))
        if run.drawn is None:
            elements.know(*pair, {(first + i,): 1})
    return address


def row(run: Run, address: int, i: int, size: int) -> tuple[Term, Term]:
    """Returns both bits of an element in a row of an array after the call."""
    lanes = [run.machine.lane_of(run.machine.memory.load(address + (2 * i + n) * size, size), WIDTH) for n in (0, 1)]
    if lanes[0] is None or lanes[1] is None:
        raise NotProved(f"lanes of row {i} are not alike")
    return lanes[0], lanes[1]


def multiplied(isa: str, count: int) -> Proof:
    """Karatsuba::mul of a leaf: all coefficients of the product of two polynomials."""

    def prove(library: Library, function: str) -> None:
        run, elements, size = Run(library, 3), Elements(), REGISTER[isa]
        run.machine.alike = True
        a, b = (rows(run, elements, name, count, first, size) for name, first in (("a", 0), ("b", count)))
        out = run.space()
        run.machine.call(function, out, a, b, run.workspace(16 * count * size))
        results = [row(run, out, k, size) for k in range(2 * count - 1)]
        elements.learn([bit for pair in results for bit in pair])
        for k, pair in enumerate(results):
            if elements.form(*pair) != {(i, count + k - i): 1 for i in range(count) if 0 <= k - i < count}:
                raise OtherResult(f"coefficient {k} is another one than that of the product")

    return prove


def claims() -> Iterator[Claim]:
    """Yields what is claimed of bit-sliced products."""
    for isa in REGISTER:
        symbol = f"_ZN7polykem7polymul{len(isa)}{isa}9KaratsubaILm{LEAF}ELm{LEAF}ELm0ENS1_3Gf3EE3mul*"
        yield Claim(f"ntru {isa} block ternary product {LEAF}", symbol,
                    f"any two polynomials of {LEAF} elements of GF(3)", "their product", multiplied(isa, LEAF))
