# SPDX-License-Identifier: Apache-2.0
"""Facts about remainders of divisions whose quotient is the upper bits of a product, by Shoup's or Barrett's method."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping

from proofs.algebra.facts import Fact, Modulus
from proofs.algebra.terms import Term, signed

MOST_SUMMANDS = MOST_LOOKED_AT = 8
QUOTIENT_DEPTH = 20  # of the terms in which a quotient is looked for


class Quotients:
    """Facts about remainders, from those about the words `of` which they are."""

    def __init__(self, modulus: Modulus, of: Mapping[Term, Fact]) -> None:
        self._modulus, self._of = modulus, of

    def fact(self, term: Term) -> Fact | None:
        """Returns the fact about the remainder of x w after a division with a quotient h = floor(x c / 2^k): the
        integer r = x w - h m, for constants w, c and m, where q divides m; and about the sum of r and other integers.
        With x c = 2^k h + l, 0 <= l < 2^k,

            2^k r = x (2^k w - m c) + m l,

        so r is between x (2^k w - m c) / 2^k and that plus m (2^k - 1) / 2^k. For c = floor(2^k w / m) and x < 2^k, r
        is in [0, 2 m). The term's bits are those of the sum, mod 2^width."""
        whole = term.args[0] if term.op == "extract" and term.extra[1] == 0 else term  # type: ignore[index]
        if whole.op not in ("add", "sub"):
            return None
        summands, remainders = _summands(term, self._of), []
        for quotient in _upper_halves(term, self._of):
            remainder, others = self._remainder(term.width, quotient, summands)
            if remainder is not None:
                remainders.append(remainder)
                summands = others
        facts = [self._known_part(term.width, sign, part) for sign, part in summands]
        if not remainders and term is whole or any(fact is None for fact in facts):
            return None
        total = Fact(0, 0, {})
        for fact in (*remainders, *facts):
            total = Fact(total.low + fact.low, total.high + fact.high,  # type: ignore[union-attr]
                         self._modulus.combine(total.form, fact.form, 1))  # type: ignore[union-attr]
        if total.high - total.low >= 1 << term.width:
            return None
        return self._modulus.as_unsigned(total, term.width) or total if total.low >> term.width > 0 else total

    def _remainder(self, width: int, quotient: Term,
              summands: list[tuple[int, Term]]) -> tuple[Fact | None, list[tuple[int, Term]]]:
        """Returns the fact about r or -r, whose summands are among the given ones, and the other summands."""
        product, k = quotient.args[0], quotient.extra[1]  # type: ignore[index]
        x, c = _factors(product)
        known = self._of.get(x) if x is not None else None
        fact = self._modulus.as_unsigned(known, x.width) if known is not None else None  # type: ignore[union-attr]
        if fact is None or fact.high * c >= 1 << product.width:
            return None, summands
        w, m, alone, others = _sorted_out(summands, x, quotient, width)  # type: ignore[arg-type]
        ones = (1 << width) - 1
        direction = -1 if m & ones > ones >> 1 else 1
        m = direction * m & ones
        if m == 0 or m % self._modulus.q:
            return None, summands
        choices = {direction * (w + added) & ones: remainder
                   for added, remainder in ((sum(sign for sign, _ in alone), others), (0, others + alone))}
        w = min(choices, key=lambda w: abs((w << k) - m * c))
        slope, others = (w << k) - m * c, choices[w]
        low, high = sorted((fact.low * slope, fact.high * slope))
        ends = sorted((direction * -(-low >> k), direction * (high + m * ((1 << k) - 1) >> k)))
        return Fact(ends[0], ends[1], self._modulus.scaled(fact.form, direction * w)), others

    def _known_part(self, width: int, sign: int, term: Term) -> Fact | None:
        if term.value is None:
            fact = self._of.get(term)
        else:
            fact = self._modulus.number(signed(term.value & (1 << width) - 1, width))
        if fact is None or sign == 1:
            return fact
        return Fact(-fact.high, -fact.low, self._modulus.scaled(fact.form, -1))


def _upper_halves(term: Term, known: Container[Term]) -> Iterator[Term]:
    """Yields the upper bits of products of which multiples are added or subtracted in a term, the nearest first. Does
    not look into terms that are known."""
    level, seen = [term], {term}
    for _ in range(QUOTIENT_DEPTH):
        args = [arg for top in level if top.op in ("add", "sub", "mul", "concat", "extract") for arg in top.args]
        level = [arg for arg in dict.fromkeys(args) if arg not in seen and arg not in known][:MOST_LOOKED_AT]
        seen.update(level)
        for top in level:
            whole = top.args[0] if top.op == "extract" else top
            if top is not whole and whole.op == "mul" and whole.most >> top.extra[0] + 1 == 0:  # type: ignore[index]
                yield top


def _summands(term: Term, known: Container[Term]) -> list[tuple[int, Term]]:
    """Returns signs and terms whose sum a term is, mod 2^width."""
    result, stack = [], [(1, term)]
    while stack:
        sign, top = stack.pop()
        whole = top.args[0] if top.op == "extract" and top.extra[1] == 0 else top  # type: ignore[index]
        if top.op == "concat" and top.args[-1].width >= term.width:
            stack.append((sign, top.args[-1]))
        elif whole.op in ("add", "sub") and len(stack) < MOST_SUMMANDS and (top is term or top not in known):
            stack += [(sign, whole.args[0]), (sign if whole.op == "add" else -sign, whole.args[1])]
        else:
            result.append((sign, top))
    return result


def _sorted_out(summands: list[tuple[int, Term]], x: Term, quotient: Term,
                width: int) -> tuple[int, int, list[tuple[int, Term]], list[tuple[int, Term]]]:
    """Returns w and m where multiples of x and of the quotient are x w - h m in all, the summands that are x, and the
    other ones."""
    w, m, alone, others = 0, 0, [], []
    for sign, part in summands:
        parts = _multiples(part, (x, quotient), width, QUOTIENT_DEPTH)
        if part is x:
            alone.append((sign, part))
        elif parts is None:
            others.append((sign, part))
        else:
            w, m = w + sign * parts[0], m - sign * parts[1]
    return w, m, alone, others


def _factors(product: Term) -> tuple[Term | None, int]:
    """Returns the word and the constant of a product of a zero-extended word and a constant."""
    word, factor = product.args
    if factor.value is None or word.op != "concat" or len(word.args) != 2 or word.args[0].value != 0:
        return None, 0
    return word.args[1], factor.value


def _multiples(term: Term, atoms: tuple[Term, Term], width: int, depth: int) -> tuple[int, int] | None:
    """Returns of which multiples of two words a term is the sum, mod 2^width; None if it is no such sum. No term that
    is looked at has fewer bits."""
    if term.value == 0:
        return 0, 0
    for n, atom in enumerate(atoms):
        if term is atom or _is_low_part(term, atom):
            return 1 - n, n
    if depth == 0:
        return None
    match term.op:
        case "add" | "sub":
            parts = [_multiples(arg, atoms, width, depth - 1) for arg in term.args]
            if parts[0] is None or parts[1] is None:
                return None
            sign = 1 if term.op == "add" else -1
            return parts[0][0] + sign * parts[1][0], parts[0][1] + sign * parts[1][1]
        case "mul" if term.args[1].value is not None:
            return _times(_multiples(term.args[0], atoms, width, depth - 1), term.args[1].value)
        case "extract" if term.extra[1] == 0:  # type: ignore[index]
            return _multiples(term.args[0], atoms, width, depth - 1)
        case "concat" if term.args[-1].width >= width:
            return _multiples(term.args[-1], atoms, width, depth - 1)
        case "concat":
            shift = term.args[-1].width if term.args[-1].value == 0 else 0
            others = [part for part in term.args[:-1] if part.value != 0] + ([] if shift else [term.args[-1]])
            if len(others) != 1 or any(part.value != 0 for part in term.args if part is not others[0]):
                return None
            return _times(_multiples_of_part(others[0], atoms, width - shift, depth - 1), 1 << shift)
    return None


def _multiples_of_part(part: Term, atoms: tuple[Term, Term], width: int, depth: int) -> tuple[int, int] | None:
    """Does so for a part that may have fewer bits, above which there are zeros."""
    if part.width >= width:
        return _multiples(part, atoms, width, depth)
    for n, atom in enumerate(atoms):
        if part is atom or _is_low_part(part, atom) and not atom.most >> part.width:
            return 1 - n, n
    whole = part.args[0] if part.op == "extract" and part.extra[1] == 0 else None  # type: ignore[index]
    if whole is None or whole.width < width or whole.most >> part.width:
        return None
    return _multiples(whole, atoms, width, depth)


def _times(parts: tuple[int, int] | None, factor: int) -> tuple[int, int] | None:
    return None if parts is None else (parts[0] * factor, parts[1] * factor)


def _is_low_part(term: Term, whole: Term) -> bool:
    """Returns whether a term is the lowest bits of another, which are both bits of a third."""
    return (term.op == whole.op == "extract" and term.args == whole.args and
            term.extra[1] == whole.extra[1] and term.width <= whole.width)  # type: ignore[index]
