# SPDX-License-Identifier: Apache-2.0
"""NTRU's steps that multiply, with what they do to operands and products, and the reduction mod (3, Phi_n)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from proofs.algebra.facts import NotProved
from proofs.algebra.terms import Term, keep_sums_whole, sub, variable
from proofs.claims import Proof, Run, Values
from proofs.families.ntru import LOG_Q, SINGLE_EXACT_BITS
from proofs.families.ntru_state import REF, Backend, State, Words
from proofs.machines.memory import Library


def centred(x: Values) -> Values:
    """Returns -1 for 2."""
    return np.where(x == 2, -1, x)


def same(x: Values) -> Values:
    return x


def reduced(backend: Backend, n: int) -> Proof:
    """reduce_cf: [NTRU20, Rq_to_S3]"""

    def prove(library: Library, function: str) -> None:
        keep_sums_whole()
        run, half = Run(library, 3), 1 << LOG_Q[n] - 1
        state = State(run, backend, n)
        z = state.residues("z", -half, half - 1, LOG_Q[n])
        run.machine.call(function, state.address)
        state.expect_residues(state.get("a"), z, "coefficient")

    return prove


def multiplied(backend: Backend, n: int) -> Proof:
    """mul_hr, mul_cf: the product of x and a, whose coefficients 2 become -1. [NTRU20, DPKE_Encrypt, DPKE_Decrypt]"""

    def prove(library: Library, function: str) -> None:
        run = Run(library, 3)
        state = State(run, backend, n)
        a, x, products = state.trits("a"), state.words("x"), [variable(f"product[{i}]", 16) for i in range(n)]
        operands = state.on_product(library, lambda: products)
        run.machine.call(function, state.address)
        (first, second), = operands
        if first != x or state.get("z") != products:
            raise NotProved("the product is not of x, or not stored")
        for i, (word, trit) in enumerate(zip(second, a)):
            expect_of_trit(run, word, trit, centred, f"coefficient {i}")

    return prove


def expect_of_trit(run: Run, word: Term, trit: Term, expected: Callable[[Values], Values], what: str) -> None:
    if trit.value is None:
        run.expect_table(word, trit, expected, what)
    elif word.value != trit.value:
        raise NotProved(f"{what} is {word}, expected {trit}")


def without_last(backend: Backend, n: int) -> Proof:
    """mul_r: the product of x and u minus its last coefficient. [NTRU20, DPKE_Decrypt]"""

    def prove(library: Library, function: str) -> None:
        run = Run(library, 3)
        state = State(run, backend, n)
        x, u, products = state.words("x"), state.words("u"), [variable(f"product[{i}]", 16) for i in range(n)]
        operands = state.on_product(library, lambda: products)
        run.machine.call(function, state.address)
        if operands != [(x, u)]:
            raise NotProved("the product is not of x and u")
        for i, word in enumerate(state.get("z")):
            run.expect_same(word, sub(products[i], products[-1]), f"coefficient {i}")

    return prove


def ternary_product(backend: Backend, n: int) -> Proof:
    """mul_m: the product of a and inverse_f mod (3, Phi_n). Its coefficients are at most 4 n.
    [NTRU20, DPKE_Decrypt]"""

    def prove(library: Library, function: str) -> None:
        keep_sums_whole()
        run = Run(library, 3)
        state = State(run, backend, n)
        a, b, bits = state.trits("a"), state.trits("inverse_f"), 16 if backend is REF else SINGLE_EXACT_BITS[n]
        known: Words = []

        def product() -> Words:
            for i in range(n):
                known.append(variable(f"product[{i}]", bits))
                run.facts.assume(known[-1], 0, 4 * n)
            return state.with_any_above("product", known)

        operands = state.on_product(library, product)
        run.machine.call(function, state.address)
        for words, trits in zip(operands[0], (a, b)):
            for i, (word, trit) in enumerate(zip(words, trits)):
                expect_of_trit(run, word, trit, same, f"coefficient {i} of an operand")
        state.expect_residues(state.get("b"), known, "coefficient")

    return prove
