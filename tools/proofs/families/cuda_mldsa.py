# SPDX-License-Identifier: Apache-2.0
"""ML-DSA's inverse transform in the GPU code's headers, compiled for the host with the lanes of a polynomial one after
the other: cuda_warp.hpp."""

from __future__ import annotations

from collections.abc import Iterator

from proofs.algebra.facts import Form
from proofs.algebra.ranges import Facts
from proofs.algebra.terms import Term, keep_sums_whole
from proofs.claims import Claim, Run
from proofs.families.cuda import expect
from proofs.families.mldsa import N, Q, inverse
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


def claims() -> Iterator[Claim]:
    """Yields what is claimed of the GPU code's inverse transform of ML-DSA."""
    yield Claim("cuda mldsa inverse", "cuda_mldsa_inverse", "words in [0, 2 q)", "2^32 times the inverse, in [0, q)",
                inverse_transform, inlined=True, is_long=True)
