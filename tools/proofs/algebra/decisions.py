# SPDX-License-Identifier: Apache-2.0
"""Finds of what a mask of failure is made: it is not zero if and only if one of some terms is not."""

from __future__ import annotations

from collections.abc import Iterable

from proofs.algebra.terms import Term, compare, extract, negate


def causes(root: Term) -> set[Term]:
    """Returns terms of which at least one is not zero if and only if the given one is not zero."""
    result, stack, done = set(), [root], set()
    while stack:
        term = stack.pop()
        if term in done or term.value == 0:
            continue
        done.add(term)
        parts = _causes(term)
        if parts is None:
            result.add(term)
        else:
            stack += parts
    return result


def _causes(term: Term) -> Iterable[Term] | None:
    """Returns terms as causes() does, one step deeper; None if there is no such step."""
    match term.op:
        case "or":
            return _causes_of_signs(*term.args) or term.args
        case "concat":
            return term.args
        case "sext":
            return term.args[:1]
        case "sub" if term.args[0].value == 0:
            return term.args[1:]
        case "xor" if term.width == 1 and term.args[1].value == 1:
            return _causes_of_not(term.args[0])
        case "extract":
            high, low = term.extra  # type: ignore[misc]
            if low == term.args[0].width - 1 and (found := _causes_of_sign(term.args[0])) is not None:
                return found
            if _is_mask(term.args[0]):
                return term.args[0].args[1:]
            return [extract(arg, high, low) for arg in term.args[0].args] if term.args[0].op == "or" else None
        case "ite" if term.args[1].value and term.args[2].value == 0:
            return term.args[:1]
        case "ite" if term.args[1].value == 0 and term.args[2].value:
            return _causes_of_not(term.args[0])
        case "slt" if term.args[1].value == 0:
            sign = term.args[0].width - 1
            return [extract(term.args[0], sign, sign)]
        case "ult" if term.args[0].value is not None:
            return _causes_of_largest(*term.args)
    return None


def _is_mask(word: Term) -> bool:
    """Returns whether a word is -x for a bit x: all of its bits are x."""
    return word.op == "sub" and word.args[0].value == 0 and word.args[1].most <= 1


def _causes_of_not(bit: Term) -> Iterable[Term] | None:
    """Returns causes of the opposite of a bit."""
    if bit.op == "eq" and bit.args[1].value == 0:
        return bit.args[:1]
    if bit.op == "ite" and bit.args[1].value == 1 and bit.args[2].value == 0:
        return [negate(bit.args[0])]
    if bit.op == "xor" and bit.args[1].value == 1:
        return bit.args[:1]
    if bit.op == "extract" and bit.args[0].op == "xor":
        (high, low), (word, other) = bit.extra, bit.args[0].args  # type: ignore[misc]
        return [extract(word, high, low)] if (other.value or 0) >> low & 1 else None
    return None


def _causes_of_sign(whole: Term) -> Iterable[Term] | None:
    """The sign of x | -x, or of -x where x has no more than that one bit."""
    if whole.op == "or":
        for a, b in (whole.args, whole.args[::-1]):
            if b.op == "sub" and b.args[0].value == 0 and b.args[1] is a:
                return [a]
    if whole.op == "sub" and whole.args[0].value == 0 and whole.args[1].most <= 1 << whole.width - 1:
        return whole.args[1:]
    return None


def _causes_of_signs(a: Term, b: Term) -> Iterable[Term] | None:
    """The sign of x or that of -x, where x's is a term of its own."""
    for sign, other in ((a, b), (b, a)):
        if other.op != "extract" or other.args[0].op != "sub" or other.args[0].args[0].value != 0:
            continue
        word, top = other.args[0].args[1], other.args[0].width - 1
        if other.extra == (top, top) and sign is extract(word, top, top):
            return [word]
    return None


def _causes_of_largest(bound: Term, largest: Term) -> Iterable[Term] | None:
    """The larger of two words, as a choice, is above a bound if one of them is."""
    if bound.value == 0:
        return [largest]
    if largest.op != "ite" or largest.args[0].op != "ult":
        return None
    a, b = largest.args[0].args
    if largest.args[1:] != (b, a):
        return None
    return [compare("ult", bound, a), compare("ult", bound, b)]
