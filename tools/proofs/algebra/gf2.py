# SPDX-License-Identifier: Apache-2.0
"""Finds which sums of inputs' bits, mod 2, the bits of a term are."""

from __future__ import annotations

from collections.abc import Iterable

from proofs.algebra import methods
from proofs.algebra.facts import NotProved
from proofs.algebra.terms import Term

Bits = tuple[int, ...]  # a sum for each bit, the lowest first: bit n + 1 for input n, bit 0 for the constant 1


class Linear:
    """What is known of terms over `inputs`, terms of one bit each."""

    def __init__(self, inputs: Iterable[Term]) -> None:
        self._of: dict[Term, Bits] = {bit: (2 << n,) for n, bit in enumerate(inputs)}

    def bits(self, root: Term) -> Bits:
        """Returns the bits of a term. Raises NotProved where one is no sum of inputs, or is not found to be."""
        methods.used.add("GF(2)")
        stack = [root]
        while stack:
            term = stack[-1]
            waiting = [arg for arg in term.args if arg not in self._of] if term not in self._of else []
            if waiting:
                stack += waiting
                continue
            stack.pop()
            if term not in self._of:
                self._of[term] = self._by_args(term)
        return self._of[root]

    def _by_args(self, term: Term) -> Bits:
        if term.value is not None:
            return tuple(term.value >> n & 1 for n in range(term.width))
        args = [self._of[arg] for arg in term.args]
        match term.op:
            case "concat":
                return tuple(bit for arg in reversed(args) for bit in arg)
            case "extract":
                high, low = term.extra  # type: ignore[misc]
                return args[0][low:high + 1]
            case "sext":
                return args[0] + args[0][-1:] * (term.width - len(args[0]))
            case "xor":
                return tuple(x ^ y for x, y in zip(*args))
            case "and":
                return tuple(map(_and, *args))
            case "or":
                return tuple(x ^ y ^ _and(x, y) for x, y in zip(*args))
            case "add" if term.args[0] is term.args[1]:
                return (0, *args[0][:-1])
            case "add" if all(not x or not y for x, y in zip(*args)):  # no carries
                return tuple(x | y for x, y in zip(*args))
            case "sub" if not any(args[0]) and not any(args[1][1:]):
                return args[1][:1] * term.width
            case "mul" if (factor := term.args[1].value or 0).bit_count() == 1:
                shift = factor.bit_length() - 1
                return (0,) * shift + args[0][:term.width - shift]
            case "slt" if not any(args[1]):
                return args[0][-1:]
            case "ite":
                return tuple(y ^ _and(args[0][0], x ^ y) for x, y in zip(*args[1:]))
        raise NotProved(f"{term} is not found to be linear")


def _and(x: int, y: int) -> int:
    if x == y or y == 1:
        return x
    if x == 1:
        return y
    if x and y:
        raise NotProved("a product of bits that depend on inputs")
    return 0
