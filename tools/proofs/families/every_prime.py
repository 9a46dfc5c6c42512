# SPDX-License-Identifier: Apache-2.0
"""CKKS's arithmetic modulo q, for every q in a range at once: q is an unknown word too.

A formula is made of the words, with what it is congruent to and a bound that is a multiple of q; the solver says
whether the function's result is that formula, for all words. A product by a constant factor is beyond solvers for an
unknown q. It is computed by Shoup's method, for which there is this lemma:

    Let q > 0, 0 <= w < q, c = floor(2^k w / q), 0 <= x < 2^k, and let h be an integer with x c = 2^k h + l,
    0 <= l < n 2^k. Then x w - h q is in [0, (n + 1) q).

    Let 2^k w = q c + s, so 0 <= s < q. Then 2^k (x w - h q) = x (q c + s) - q (x c - l) = x s + q l. Both terms are at
    least 0; x s < 2^k q, and q l < n 2^k q.

h is the upper word of x c where n = 1. Where it is the sum of the upper halves' product and of the upper words of both
mixed products, what it leaves out are two fractions and the product of the lower halves, each below 2^k: n = 3.

So the two products in x w - h q are replaced by p + v and v, for any words v and p below (n + 1) q. As (n + 1) q is at
most 2^k, their difference mod 2^k is the integer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from proofs.algebra import solver
from proofs.algebra.facts import NotProved
from proofs.algebra.terms import (Term, add, bitwise, compare, const, extract, ite, keep_sums_whole, mul, negate, sub,
                                  variable, zext)
from proofs.claims import Claim, Proof, Run
from proofs.machines.memory import Library



@dataclass(frozen=True)
class Words:
    """q, the word y that is multiplied, its factor w and floor(2^k w / q), and another word x."""

    q: Term
    y: Term
    w: Term
    quotient: Term
    x: Term


def upper(a: Term, b: Term) -> Term:
    """Returns the upper word of a product."""
    width = a.width
    return extract(mul(zext(a, 2 * width), zext(b, 2 * width)), 2 * width - 1, width)


def halves(word: Term) -> tuple[Term, Term]:
    half = word.width // 2
    return extract(word, word.width - 1, half), extract(word, half - 1, 0)


def upper_in_parts(a: Term, b: Term) -> Term:
    """Returns the upper word of a product without the product of the lower halves and without carries."""
    (a1, a0), (b1, b0) = halves(a), halves(b)
    mixed = [zext(upper(*pair), a.width) for pair in ((a1, b0), (a0, b1))]
    return add(add(mul(zext(a1, a.width), zext(b1, a.width)), mixed[0]), mixed[1])


def multiplied_by(terms: Sequence[Term], factor: Term) -> Term | None:
    """Returns the word whose product with another one the terms are made of; None if there is no product with it."""
    found, stack, done = set(), list(terms), set()
    while stack:
        term = stack.pop()
        if term in done:
            continue
        done.add(term)
        stack += term.args
        if term.op == "mul" and factor in term.args and all(arg.value is None for arg in term.args):
            found.add(term.args[0] if term.args[1] is factor else term.args[1])
    if len(found) > 1:
        raise NotProved(f"several products with {factor}")
    return found.pop() if found else None


@dataclass(frozen=True)
class Value:
    """A word in [0, bound q), congruent to the sum of x, y and their product with w, each so many times."""

    term: Term
    bound: int
    form: tuple[int, int, int]


class Formulas:
    """Formulas mod q, for q below 2^bits. Each says what its bound follows from."""

    def __init__(self, q: Term, bits: int) -> None:
        self.q, self.most = q, 1 << q.width - bits

    def _made(self, term: Term, bound: int, form: tuple[int, int, int], holds: bool = True) -> Value:
        if not holds or bound > self.most:
            raise NotProved(f"a formula may not be below {bound} q")
        return Value(term, bound, form)

    def multiple(self, factor: int) -> Term:
        return mul(self.q, const(factor, self.q.width))

    def word(self, term: Term, bound: int, form: tuple[int, int, int]) -> Value:
        """A word that is given, with its bound or, for 0, any word."""
        return Value(term, bound, form)

    def once(self, a: Value, bound: int) -> Value:
        """a, or a - bound q if that is not negative. Below 2 bound q, a is below bound q then."""
        less = ite(compare("ult", a.term, self.multiple(bound)), a.term, sub(a.term, self.multiple(bound)))
        return self._made(less, bound, a.form, 0 < a.bound <= 2 * bound)

    def plus(self, a: Value, b: Value) -> Value:
        form = tuple(x + y for x, y in zip(a.form, b.form))
        return self._made(add(a.term, b.term), a.bound + b.bound, form, a.bound > 0 < b.bound)  # type: ignore[arg-type]

    def minus(self, a: Value, b: Value, more: int) -> Value:
        """a - b + more q, which is not negative if b is below more q."""
        form = tuple(x - y for x, y in zip(a.form, b.form))
        return self._made(add(sub(a.term, b.term), self.multiple(more)), a.bound + more, form,  # type: ignore[arg-type]
                          0 < b.bound <= more and a.bound > 0)


Formula = Callable[[Formulas, Value, Value, Value], Sequence[Value]]  # of x, y and the product


def expect(words: Words, found: Sequence[Term], formula: Formula, claimed: Sequence[tuple[int, tuple[int, int, int]]],
           bounds: tuple[int, int], bits: int, of_difference: int, loss: int) -> None:
    """Raises NotProved unless the words found have the bounds and forms that are claimed, for all q from 3 to below
    2^bits, x below bounds[0] q and y below bounds[1] q; 0: for any word. The product is that of y or, if of_difference
    is not 0, of x - y + of_difference q. `loss` is n of the lemma."""
    q, formulas = words.q, Formulas(words.q, bits)
    x, y = (formulas.word(term, bound, form) for term, bound, form in (
        (words.x, bounds[0], (1, 0, 0)), (words.y, bounds[1], (0, 1, 0))))
    assumed = [compare("ult", const(2, q.width), q), compare("ult", q, const(1 << bits, q.width))]
    assumed += [compare("ult", value.term, formulas.multiple(value.bound)) for value in (x, y) if value.bound]
    product, instead = formulas.word(const(0, q.width), 0, (0, 0, 1)), {}
    multiplied, high = multiplied_by(found, words.w), multiplied_by(found, q)
    if multiplied is not None and high is not None:
        expected = formulas.minus(x, y, of_difference) if of_difference else y
        parts = [mul(zext(a, q.width), zext(b, q.width)) for a in halves(multiplied) for b in halves(words.quotient)]
        quotient = (upper if loss == 1 else upper_in_parts)(multiplied, words.quotient)
        if not solver.equal(multiplied, expected.term) or not solver.equal(
                high, quotient, {term: variable(f"part {n}", q.width) for n, term in enumerate(parts) if loss > 1}):
            raise NotProved("the product is of another word, or the quotient is not its upper word")
        product = formulas.word(variable("product", q.width), loss + 1, (0, 0, 1))
        if product.bound > formulas.most:
            raise NotProved("the product has more bits than a word")
        beside = variable("multiple of q", q.width)
        instead = {mul(multiplied, words.w): add(product.term, beside), mul(high, q): beside}
        assumed.append(compare("ult", product.term, formulas.multiple(product.bound)))
    condition = assumed[0]
    for bit in assumed[1:]:
        condition = bitwise("and", condition, bit)
    for n, (term, value, claim) in enumerate(zip(found, formula(formulas, x, y, product), claimed, strict=True)):
        if (value.bound, value.form) != claim:
            raise NotProved(f"the formula of result {n} is {value.form} below {value.bound} q")
        same = bitwise("or", negate(condition), compare("eq", term, value.term))
        if not solver.equal(same, const(1, 1), instead):
            raise NotProved(f"result {n} is not the formula's")


def proof(width: int, bits: int, formula: Formula, claimed: Sequence[tuple[int, tuple[int, int, int]]],
          bounds: tuple[int, int], loss: int = 1, of_difference: int = 0) -> Proof:
    """A function of q, y, w, its quotient and x."""

    def prove(library: Library, function: str) -> None:
        keep_sums_whole()
        run = Run(library, 3)
        inputs, out = run.unknown("in", 5, 0, (1 << width) - 1, width), run.space()
        run.machine.call(function, out, inputs.address)
        found = [run.result(out, n, width) for n in range(len(claimed))]
        expect(Words(*inputs.words), found, formula, claimed, bounds, bits, of_difference, loss)

    return prove


X, Y, XY = (1, 0, 0), (0, 1, 0), (0, 0, 1)  # XY: the product


def _negated(f: Formulas, _: Value, y: Value, __: Value) -> Sequence[Value]:
    return [f.once(f.minus(f.word(const(0, f.q.width), 1, (0, 0, 0)), y, 1), 1)]


def _device(width: int) -> Iterator[Claim]:
    bits, lazy, room = (31, 2, 2) if width == 32 else (61, 4, 8)
    half, loss, primes = room // 2, lazy - 1, f"q in [3, 2^{bits}), w in [0, q)"

    def claim(what: str, function: str, inputs: str, result: str, *arguments: object) -> Claim:
        return Claim(f"ckks cuda {what}, {width} bits", f"ckks_cuda_{function}_{width}", f"{primes}, {inputs}", result,
                     proof(width, bits, *arguments), inlined=True)  # type: ignore[arg-type]

    def reduced(f: Formulas, a: Value, to: int = 1) -> Value:
        while a.bound > to:
            a = f.once(a, a.bound // 2)
        return a

    yield claim("lazy product", "lazy", "any y", f"y w, in [0, {lazy} q)", lambda f, x, y, p: [p], [(lazy, XY)], (0, 0),
                loss)
    yield claim("product", "multiply", "any y", "y w, in [0, q)", lambda f, x, y, p: [reduced(f, p)], [(1, XY)],
                (0, 0), loss)
    yield claim("reduction", "reduce_forward", f"y in [0, {room} q)", "y, in [0, q)",
                lambda f, x, y, p: [reduced(f, y)], [(1, Y)], (0, room))
    yield claim("negation", "negate", "y in [0, q)", "-y, in [0, q)", _negated, [(1, (0, -1, 0))], (0, 1))

    def butterfly(f: Formulas, x: Value, _: Value, p: Value) -> Sequence[Value]:
        a, b = reduced(f, x, half), reduced(f, p, half)
        return [f.plus(a, b), f.minus(a, b, half)]

    yield claim("butterfly", "butterfly", f"x in [0, {room} q), any y", f"x + y w, x - y w, in [0, {room} q)",
                butterfly, [(room, (1, 0, 1)), (room, (1, 0, -1))], (room, 0), loss)
    yield claim("inverse butterfly", "inverse_butterfly", f"x, y in [0, {half} q)",
                f"x + y, (x - y) w, in [0, {half} q)",
                lambda f, x, y, p: [f.once(f.plus(x, y), half), reduced(f, p, half)], [(half, (1, 1, 0)), (half, XY)],
                (half, half), loss, half)


def claims() -> Iterator[Claim]:
    """Yields what is claimed of CKKS's arithmetic."""
    for width in (32, 64):
        yield from _device(width)
    formulas: list[tuple[str, str, str, str, Formula, tuple[int, tuple[int, int, int]], tuple[int, int]]] = [
        ("lazy product", "lazy", "any y", "y w, in [0, 2 q)", lambda f, x, y, p: [p], (2, XY), (0, 0)),
        ("product", "multiply", "any y", "y w, in [0, q)", lambda f, x, y, p: [f.once(p, 1)], (1, XY), (0, 0)),
        ("reduction", "reduce_once", "y in [0, 2 q)", "y, in [0, q)", lambda f, x, y, p: [f.once(y, 1)], (1, Y),
         (0, 2)),
        ("sum", "add", "x, y in [0, q)", "x + y, in [0, q)", lambda f, x, y, p: [f.once(f.plus(x, y), 1)],
         (1, (1, 1, 0)), (1, 1)),
        ("difference", "sub", "x, y in [0, q)", "x - y, in [0, q)", lambda f, x, y, p: [f.once(f.minus(x, y, 1), 1)],
         (1, (1, -1, 0)), (1, 1)),
        ("negation", "negate", "y in [0, q)", "-y, in [0, q)", _negated, (1, (0, -1, 0)), (0, 1))]
    for what, function, inputs, result, formula, claimed, bounds in formulas:
        yield Claim(f"ckks cpu {what}", f"ckks_cpu_{function}", f"q in [3, 2^61), w in [0, q), {inputs}", result,
                    proof(64, 61, formula, [claimed], bounds), inlined=True)
