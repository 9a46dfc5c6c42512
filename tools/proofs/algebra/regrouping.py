# SPDX-License-Identifier: Apache-2.0
"""Orders of additions: compilers order sums as they like, mod 2^width."""

from __future__ import annotations

from collections.abc import Iterator

from proofs.algebra.terms import Term, add, const, sub

Summand = tuple[int, Term]  # a sign and a word


def in_other_orders(term: Term) -> Iterator[tuple[Summand, Summand, Summand]]:
    """Yields three words whose sum a term is, where it is a sum of two and one of those is a sum; each order of
    additions has another first word, which is then added to the sum of the others."""
    if term.op not in ("add", "sub"):
        return
    first, second = ((1, term.args[0]), (1 if term.op == "add" else -1, term.args[1]))
    for (sign, part), other in ((first, second), (second, first)):
        if part.op not in ("add", "sub"):
            continue
        x, y = (sign, part.args[0]), (sign if part.op == "add" else -sign, part.args[1])
        yield x, y, other
        yield y, x, other


def signed_sum(a: tuple[int, Term], b: tuple[int, Term]) -> Term:
    """Returns the sum of two (sign, term)."""
    if a[0] < b[0]:
        a, b = b, a
    if a[0] == b[0]:
        total = add(a[1], b[1])
        return total if a[0] == 1 else sub(const(0, total.width), total)
    return sub(a[1], b[1])
