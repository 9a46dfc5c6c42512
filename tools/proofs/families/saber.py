# SPDX-License-Identifier: Apache-2.0
"""Saber's products of matrices and vectors modulo (2^13, x^256 + 1), as src/schemes/saber/steps.hpp has them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from proofs.algebra.bilinear import BITS, FIRST, SECOND, Forms
from proofs.algebra.terms import Term, const, keep_sums_whole
from proofs.claims import ANY_WORD, LANES, Claim, Proof, Run
from proofs.machines.machine import Machine
from proofs.machines.memory import Library

N, EXACT_BITS = 256, 13
POLY = 2 * N  # bytes
NOISE_BITS = {2: 10, 3: 8, 4: 6}  # mu of the set of rank l


def expect_product(a: Sequence[Term], s: Sequence[Term], results: Sequence[Term], transposed: bool) -> None:
    """Raises NotProved unless the results are A s, or A^T s, for a matrix A of polynomials, row by row."""
    entry, at = np.divmod(np.arange(len(a))[:, None], N)
    row, column = np.divmod(entry, len(s) // N)
    if transposed:
        row, column = column, row
    row_of_result, to = np.divmod(np.arange(len(results))[None, :], N)
    words = np.where(row == row_of_result, column * N + (to - at) % N, -1)
    factors = np.where(to >= at, 1, (1 << BITS) - 1)
    of = {word: (side, n) for side, array in ((FIRST, a), (SECOND, s)) for n, word in enumerate(array)}
    Forms(of.get).expect(results, (len(a), len(s)), EXACT_BITS, words, factors)


def lines(size: int) -> int:
    return -(-size // 64) * 64


def batch(run: Run) -> int:
    """Returns the address of a Batch without any keys."""
    return run.pointers(*[0] * 32)


def of_item(rank: int) -> Proof:
    """Steps::mul_as on a state of ref/arithmetic.hpp, whose matrix is transposed already."""

    def prove(library: Library, function: str) -> None:
        keep_sums_whole()
        run = Run(library, 1 << BITS)
        key = (rank + 1) * rank * POLY + 64 + rank * POLY + 64  # SecretKey
        item = run.workspace(key + (2 * rank + 2) * POLY + rank * 4 * 64 * 16 * 2 + (1 << 17))
        a = run.unknown("a", rank * rank * N, *ANY_WORD, at=item)
        s = run.unknown("s", rank * N, *ANY_WORD, at=item + key)
        run.machine.call(function, run.pointers(batch(run), item))
        results = [run.result(item + key + rank * POLY, n) for n in range(rank * N)]
        expect_product(a.words, s.words, results, transposed=False)

    return prove


def of_block(rank: int, isa: str) -> Proof:
    """Steps::mul_as on a state of interleaved/state.hpp, for any one item, whatever words unpack() leaves."""
    lanes = LANES[isa]

    def prove(library: Library, function: str) -> None:
        keep_sums_whole()
        run = Run(library, 1 << BITS)
        row = 2 * lanes
        matrix_row, noise_row = lines(rank * rank * N * 13 // 8), lines(rank * N * NOISE_BITS[rank] // 8)
        product = lanes * (matrix_row + noise_row)
        s_at = product + row * (rank * (1008 + 448 + 144) + 2 * 144 + 2 * 448) + lines(rank * 1008 * 2)
        block = run.workspace(s_at + (2 * rank + 4) * N * row)
        s = run.unknown_lanes("s", rank * N, lanes, at=block + s_at)
        unpacked: dict[int, list[Term]] = {}

        def unpack(machine: Machine) -> None:
            to, source = (machine.known(machine.argument(n), "an address") for n in range(2))
            entry, beside = divmod(source - block, N * 13 // 8)
            if beside or entry in unpacked:
                raise ValueError(f"entry {entry} of the matrix is unpacked again")
            unpacked[entry] = run.unknown_lanes(f"a{entry}", N, lanes, at=to).words

        if run.drawn is None:
            name = f"_ZN7polykem5saber11interleaved{len(isa)}{isa}6unpackILj13E*"
            run.machine.instead[library.function(name)] = unpack
        else:  # the same matrix for all items
            entries = [const(run.drawn.getrandbits(8), 8) for _ in range(matrix_row)]
            for item in range(lanes):
                run.machine.memory.store(block + item * matrix_row, [(byte, 0) for byte in entries])
        run.machine.call(function, run.pointers(batch(run), lanes, block))
        for part in range(run.parts(lanes)):
            results = [run.lane(block + s_at + rank * N * row, n, lanes, part=part) for n in range(rank * N)]
            a = [word for entry in range(rank * rank) for word in unpacked[entry][part * N:][:N]]
            expect_product(a, s.words[part * rank * N:][:rank * N], results, transposed=True)

    return prove


def claims() -> Iterator[Claim]:
    """Yields what is claimed of Saber."""
    inputs, result = "any words", "a matrix times s mod (2^13, x^256 + 1)"
    for rank in NOISE_BITS:
        scope, steps = f"Lm{rank}E*", "_ZN7polykem5saber"
        yield Claim(f"saber ref product {rank}", f"{steps}8portable5Steps*{scope}6mul_asE*", inputs, result,
                    of_item(rank), is_long=rank > 2)
        for isa in LANES:
            name = f"{steps}{len(isa)}{isa}5Steps*{scope}"
            layout = f"{len(isa)}{isa}10Arithmetic*6mul_asE*"
            yield Claim(f"saber {isa} product {rank}", f"{name}3ref{layout}", inputs, result, of_item(rank),
                        is_long=rank > 2)
            yield Claim(f"saber {isa} block product {rank}", f"{name}11interleaved{layout}", inputs, result,
                        of_block(rank, isa), is_long=rank > 2)
