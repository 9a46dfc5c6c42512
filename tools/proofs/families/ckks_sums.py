# SPDX-License-Identifier: Apache-2.0
"""CKKS's sums of products, and what reduces them modulo q by Barrett's and Montgomery's methods, for every q in a range
at once: q is an unknown word too, as in every_prime.py.

Products of two unknown words are beyond solvers. A variable that is as large as the product stands for each; the solver
says whether the remainder is as expected, for all values of those. Two lemmas say what products with q leave:

    Barrett. Let q > 0, c = floor(2^(k + s) w / q), 0 <= w < q or w = 1, x = 2^s u + t, 0 <= t < 2^s, 0 <= u < 2^k, and
    let h be an integer with u c = 2^k h + l, 0 <= l < n 2^k. Then x w - h q is in [0, (n + 1) q) if s = 0, and in
    [0, 3 q) if n = w = 1 and 2^s <= q / 2.

    Let 2^(k + s) w = q c + d, so 0 <= d < q. For s = 0, 2^k (x w - h q) = u d + q l: u d < 2^k q and q l < n 2^k q. For
    w = 1, 2^k (x - h q) = u d + 2^k t + q l, where 2^k t < 2^k q / 2. Every term is at least 0.

    Montgomery. Let q i = 1 mod 2^k, m = x i mod 2^k, 0 <= x < 2^k q and m q = 2^k h + l, 0 <= l < 2^k. Then l is
    x mod 2^k, and x / 2^k mod q is floor(x / 2^k) - h, which is in (-q, q).

    m q = x mod 2^k, so x - m q = 2^k (floor(x / 2^k) - h). Both are in [0, q), as m < 2^k.

In the first one, h mod the width of a word is enough: the remainder is less than a word, which 2^k or more is not. So
where a function computes y - h q from the lower word y of x w, h q is replaced by y - r, for any word r in the range.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from proofs.algebra import solver
from proofs.algebra.facts import NotProved
from proofs.algebra.terms import (Term, add, bitwise, compare, concat, const, extract, ite, keep_sums_whole, mul,
                                  negate, shift_left, shift_right, sub, variable, zext)
from proofs.claims import Claim, Proof, Run
from proofs.families.every_prime import halves, multiplied_by, upper
from proofs.machines.memory import Library

MOST_BITS = {32: 31, 64: 61}  # of q, in words of so many bits


def product(a: Term, b: Term) -> Term:
    """Returns the product of two words, of double width."""
    return mul(zext(a, 2 * a.width), zext(b, 2 * a.width))


def once(a: Term, bound: Term) -> Term:
    """Returns a, or a - bound if that is not negative."""
    return ite(compare("ult", a, bound), a, sub(a, bound))


def multiple(q: Term, factor: int) -> Term:
    return mul(q, const(factor, q.width))


@dataclass
class Goal:
    """q, which is from 3 to below 2^bits, what else is assumed, and what stands for products."""

    q: Term
    bits: int
    assumed: list[Term] = field(default_factory=list)
    instead: dict[Term, Term] = field(default_factory=dict)

    def __post_init__(self) -> None:
        width = self.q.width
        self.assumed += [compare("ult", const(2, width), self.q), compare("ult", self.q, const(1 << self.bits, width))]

    def holds(self, fact: Term) -> bool:
        for assumed in self.assumed:
            fact = bitwise("or", fact, negate(assumed))
        return solver.equal(fact, const(1, 1), self.instead)

    def expect(self, found: Term, expected: Term, what: str) -> None:
        if not self.holds(compare("eq", found, expected)):
            raise NotProved(f"{what} is not what it should be")

    def stands_for(self, a: Term, b: Term) -> Term:
        """Lets a variable stand for the product of two words, of double width or of one."""
        result = variable(f"product {len(self.assumed)}", 2 * a.width)
        self.instead[product(a, b)] = result
        self.instead[mul(a, b)] = extract(result, a.width - 1, 0)
        largest = ((1 << a.width) - 1) ** 2
        self.assumed.append(compare("ult", result, const(largest + 1, result.width)))
        return result

    def remainder(self, found: Sequence[Term], quotient: Term, lower: Term, bound: int) -> Term:
        """Returns a word below bound q, which stands for lower - quotient q. In `lower`, variables stand for
        products."""
        if bound > 1 << self.q.width - self.bits:
            raise NotProved("a remainder has more bits than a word")
        own = self.quotient(found, quotient)
        taken, result = mul(own, self.q), variable(f"remainder {len(self.assumed)}", self.q.width)
        self.instead[taken] = sub(lower, result)
        for term in sums_with(found, taken):
            for factor, sign in itertools.product((-1, 0, 1), (-1, 1)):
                if term not in self.instead and self.holds(compare("eq", term, self.combined(factor, sign, result))):
                    self.instead[term] = self.combined(factor, sign, result)
        self.assumed.append(compare("ult", result, multiple(self.q, bound)))
        return result

    def combined(self, factor: int, sign: int, word: Term) -> Term:
        """Returns factor q + sign word."""
        first = multiple(self.q, factor)
        return add(first, word) if sign > 0 else sub(first, word)

    def quotient(self, found: Sequence[Term], expected: Term) -> Term:
        """Returns the word that is multiplied by q and is the expected one."""
        words = [term.args[0] if term.args[1] is self.q else term.args[1] for term in terms_of(found)
                 if term.op == "mul" and self.q in term.args and all(arg.value is None for arg in term.args)]
        for word in words:
            if self.holds(compare("eq", word, expected)):
                return word
        raise NotProved("no quotient is what it should be")


def terms_of(found: Sequence[Term]) -> list[Term]:
    """Returns what terms are made of."""
    stack, done = list(found), dict[Term, None]()
    while stack:
        term = stack.pop()
        if term not in done:
            done[term] = None
            stack += term.args
    return list(done)


def sums_with(found: Sequence[Term], part: Term) -> list[Term]:
    """Returns the sums and differences that a word is a part of."""
    result = [part]
    for term in sorted(terms_of(found), key=lambda term: term.number):
        if term.op in ("add", "sub") and any(arg in result for arg in term.args):
            result.append(term)
    return result[1:]


def upper_word_of_two(goal: Goal, x: tuple[Term, Term], c: tuple[Term, Term]) -> Term:
    """Returns floor(x c / 2^(2 k)) mod 2^k, of products of words of k bits, for pairs of words, the upper one first."""
    (x1, x0), (c1, c0), width = x, c, 2 * c[0].width
    total = const(0, 2 * width)
    for a, b, shift in ((x0, c0, 0), (x0, c1, 1), (x1, c0, 1), (x1, c1, 2)):
        if a.value != 0:
            total = add(total, shift_left(zext(goal.stands_for(a, b), 2 * width), shift * width // 2))
    return extract(total, 3 * width // 2 - 1, width)


def prove_with(names: Sequence[tuple[str, int]], bits: int, results: int,
               check: Callable[[Goal, Mapping[str, Term], Sequence[Term]], None]) -> Proof:
    """A function of words of so many bits, the first of which is q, each in 64 bits."""

    def prove(library: Library, function: str) -> None:
        keep_sums_whole()
        run = Run(library, 3)
        words = {name: run.fields(name, 1, width).words[0] for name, width in names}
        out = run.space()
        run.machine.call(function, out, run.store(list(words.values()), 64))
        goal = Goal(words["q"], bits)
        check(goal, words, [extract(run.result(out, n, 64), goal.q.width - 1, 0) for n in range(results)])

    return prove


# ---- On the CPU

RATIO = [("q", 64), ("ratio0", 64), ("ratio1", 64)]


def cpu_remainder(goal: Goal, words: Mapping[str, Term], found: Sequence[Term], x: tuple[Term, Term],
             lower: Term) -> Term:
    """Returns x - h q in [0, 2 q): Barrett, k = 128. x is the code's two words; `lower` is the lower one."""
    expected = upper_word_of_two(goal, x, (words["ratio1"], words["ratio0"]))
    return goal.remainder(found, expected, lower, 2)


def cpu_reduce(goal: Goal, words: Mapping[str, Term], found: Sequence[Term]) -> None:
    remainder = cpu_remainder(goal, words, found, (words["x1"], words["x0"]), words["x0"])
    goal.expect(found[0], once(remainder, goal.q), "x mod q")


def cpu_multiply(goal: Goal, words: Mapping[str, Term], found: Sequence[Term]) -> None:
    a, b = words["a"], words["b"]
    whole, instead = product(a, b), goal.stands_for(a, b)
    lower = mul(a, b) if mul(a, b) in terms_of(found) else extract(whole, 63, 0)
    remainder = cpu_remainder(goal, words, found, (extract(whole, 127, 64), lower), extract(instead, 63, 0))
    goal.expect(found[0], once(remainder, goal.q), "a b mod q")


def cpu_from_signed(goal: Goal, words: Mapping[str, Term], found: Sequence[Term]) -> None:
    """The size of x, reduced, or q less that."""
    x, q, zero = words["x"], goal.q, const(0, 64)
    is_negative = extract(x, 63, 63)
    size = size_of(found, words)
    goal.expect(size, ite(is_negative, sub(zero, x), x), "the size")
    remainder = once(cpu_remainder(goal, words, found, (zero, size), size), q)
    minus = ite(compare("eq", remainder, zero), zero, sub(q, remainder))
    goal.expect(found[0], ite(is_negative, minus, remainder), "x mod q")


def size_of(found: Sequence[Term], words: Mapping[str, Term]) -> Term:
    """Returns the word that is multiplied by the upper word of the modulus's quotient."""
    size = multiplied_by(found, zext(words["ratio1"], 128))
    if size is None:
        raise NotProved("no product with the quotient")
    return extract(size, 63, 0)


# ---- On the device


def device_remainder(goal: Goal, found: Sequence[Term], c: Term, u: Term, lower: Term, bound: int) -> Term:
    """Returns the remainder after a division whose quotient is the upper word of u c. The code's word is u."""
    own = multiplied_by(found, zext(c, 2 * c.width))
    if own is None or not goal.holds(compare("eq", own, zext(u, own.width))):
        raise NotProved("another word is multiplied by the reciprocal")
    own = extract(own, c.width - 1, 0)
    goal.stands_for(own, c)
    return goal.remainder(found, extract(upper(own, c), goal.q.width - 1, 0), lower, bound)


def reduce_sum_32(goal: Goal, words: Mapping[str, Term], found: Sequence[Term]) -> None:
    remainder = device_remainder(goal, found, words["c"], words["x"], extract(words["x"], 31, 0), 2)
    goal.expect(found[0], once(remainder, goal.q), "x mod q")


def reduce_word_32(goal: Goal, words: Mapping[str, Term], found: Sequence[Term]) -> None:
    """floor(floor(2^64 / q) / 2^32) is floor(2^32 / q)."""
    remainder = device_remainder(goal, found, extract(words["c"], 63, 32), words["x"], words["x"], 2)
    goal.expect(found[0], once(remainder, goal.q), "x mod q")


def reduce_word_64(goal: Goal, words: Mapping[str, Term], found: Sequence[Term]) -> None:
    remainder = device_remainder(goal, found, words["c"], words["x"], words["x"], 2)
    goal.expect(found[0], once(remainder, goal.q), "x mod q")


def products_32(goal: Goal, words: Mapping[str, Term], found: Sequence[Term]) -> None:
    """4 (2^31 - 1)^2 < 2^64, so no sum of products overflows."""
    total, most = const(0, 64), const(((1 << 31) - 1) ** 2 + 1, 64)
    for n in range(4):
        part = goal.stands_for(words[f"a{n}"], words[f"b{n}"])
        goal.assumed.append(compare("ult", part, most))
        total = add(total, part)
    remainder = device_remainder(goal, found, words["c"], total, extract(total, 31, 0), 2)
    goal.expect(found[0], once(remainder, goal.q), "the sum mod q")


def add_product_64(goal: Goal, words: Mapping[str, Term], found: Sequence[Term]) -> None:
    goal.assumed.clear()  # the first word is no q, but the lower one of the sum
    total = add(concat(words["high"], words["q"]), goal.stands_for(words["a"], words["b"]))
    goal.expect(concat(found[1], found[0]), total, "the sum")


def reduced_64(goal: Goal, words: Mapping[str, Term], found: Sequence[Term]) -> None:
    """The upper word times w = 2^64 mod q, in [0, 4 q) at first, and the lower word, in [0, 2 q)."""
    low, high, q = words["low"], words["high"], goal.q
    upper_part = const(0, 64)
    for a, b, is_whole in parts_of(high, words["quotient"]):
        part = goal.stands_for(a, b)
        upper_part = add(upper_part, part if is_whole else zext(extract(part, 63, 32), 64))
    times_w = extract(goal.stands_for(high, words["w"]), 63, 0)
    lower = device_remainder(goal, found, words["c"], low, low, 2)
    remainder = goal.remainder(found, upper_part, times_w, 4)
    total = add(once(once(remainder, multiple(q, 2)), q), once(lower, q))
    goal.expect(found[0], once(total, q), "the sum mod q")


def parts_of(a: Term, b: Term) -> Iterator[tuple[Term, Term, bool]]:
    """Yields halves of words, and whether their product counts or its upper half: every_prime.upper_in_parts()."""
    (a1, a0), (b1, b0) = halves(a), halves(b)
    yield from ((a1, b1, True), (a1, b0, False), (a0, b1, False))


def reduced_of_two_64(library: Library, function: str) -> None:
    """For each number of bits of q. The sum is below 2 q^2 <= 2^(64 + s), so u is below 2^64, and 2^s <= q / 2."""
    for s in range(1, MOST_BITS[64] - 1):
        keep_sums_whole()
        run = Run(library, 3)
        q, c, *factors = (run.fields(name, 1, 64).words[0] for name in ("q", "c", "a0", "b0", "a1", "b1"))
        out = run.space()
        run.machine.call(function, out, run.store([q, c, const(s, 64), *factors], 64))
        found, goal = [run.result(out, 0, 64)], Goal(q, s + 2)
        parts = [goal.stands_for(*factors[2 * n:2 * n + 2]) for n in range(2)]
        goal.assumed += [compare("ult", const((1 << s + 1) - 1, 64), q)]
        goal.assumed += [compare("ult", part, const(1 << 2 * s + 4, 128)) for part in parts]
        total = add(*parts)
        remainder = device_remainder(goal, found, c, extract(shift_right(total, s), 63, 0), extract(total, 63, 0), 3)
        goal.expect(found[0], once(once(remainder, multiple(q, 2)), q), f"the sum mod q of {s + 2} bits")


def fold_32(goal: Goal, words: Mapping[str, Term], found: Sequence[Term]) -> None:
    """Both products are below 2^31 q, so the sum of x below 2^32 q and them is below 2^33 q, which has 64 bits."""
    q, total = goal.q, concat(words["high"], words["low"])
    goal.assumed.append(compare("ult", words["high"], q))
    for n in range(2):
        part = goal.stands_for(words[f"a{n}"], words[f"b{n}"])
        goal.assumed.append(compare("ult", part, shift_left(zext(q, 64), 31)))
        total = add(total, part)
    goal.expect(found[0], extract(total, 31, 0), "the lower word")
    goal.expect(found[1], once(extract(total, 63, 32), q), "the upper word")
    if not goal.holds(compare("ult", found[1], q)):
        raise NotProved("the upper word may be q or more")


def montgomery_32(goal: Goal, words: Mapping[str, Term], found: Sequence[Term]) -> None:
    q, (high, low) = goal.q, halves(words["x"])
    goal.assumed.append(compare("ult", high, q))
    m = extract(multiplied_by(found, zext(q, 64)) or zext(q, 64), 31, 0)
    goal.expect(m, mul(low, words["inverse"]), "the multiple of q")
    of_m = extract(goal.stands_for(m, q), 63, 32)
    goal.assumed.append(compare("ult", of_m, q))
    difference = sub(high, of_m)
    goal.expect(found[0], ite(compare("ult", high, of_m), add(difference, q), difference), "x / 2^32 mod q")


def claims() -> Iterator[Claim]:
    """Yields what is claimed of CKKS's sums and reductions."""
    def claim(what: str, function: str, inputs: str, result: str, proof: Proof) -> Claim:
        return Claim(f"ckks {what}", f"ckks_{function}", inputs, result, proof, inlined=True)

    primes = "q in [3, 2^61) and no power of two"
    for what, function, inputs, result, names, check in (
            ("reduction by Barrett", "reduce", "any x of 128 bits", "x, in [0, q)", ("x0", "x1"), cpu_reduce),
            ("product of words", "multiply_words", "any a, b", "a b, in [0, q)", ("a", "b"), cpu_multiply),
            ("signed numbers", "from_signed", "any signed x", "x, in [0, q)", ("x",), cpu_from_signed)):
        yield claim(f"cpu {what}", f"cpu_{function}", f"{primes}, {inputs}", result,
                    prove_with([*RATIO, *((name, 64) for name in names)], MOST_BITS[64], 1, check))
    q_32, q_64 = (("q", width) for width in (32, 64))
    c = ("c", 64)
    small, large = "q in [3, 2^31)", "q in [3, 2^61)"
    yield claim("cuda reduction of 64 bits", "cuda_reduce_sum_32", f"{small}, any x", "x, in [0, q)",
                prove_with([q_32, c, ("x", 64)], MOST_BITS[32], 1, reduce_sum_32))
    yield claim("cuda reduction of words, 32 bits", "cuda_reduce_word_32", f"{small}, any x", "x, in [0, q)",
                prove_with([q_32, c, ("x", 32)], MOST_BITS[32], 1, reduce_word_32))
    yield claim("cuda reduction of words, 64 bits", "cuda_reduce_word_64", f"{large}, any x", "x, in [0, q)",
                prove_with([q_64, c, ("x", 64)], MOST_BITS[64], 1, reduce_word_64))
    factors = [(f"{name}{n}", 32) for n in range(4) for name in "ab"]
    yield claim("cuda sum of 4 products, 32 bits", "cuda_products_32", f"{small}, a, b below 2^31",
                "the sum, in [0, q)", prove_with([q_32, c, *factors], MOST_BITS[32], 1, products_32))
    yield claim("cuda sum of products, 64 bits", "cuda_add_product_64", "any words", "x + a b mod 2^128",
                prove_with([q_64, ("high", 64), ("a", 64), ("b", 64)], MOST_BITS[64], 2, add_product_64))
    yield claim("cuda reduction of 128 bits", "cuda_reduced_64", f"{large}, any x", "x, in [0, q)",
                prove_with([q_64, *((name, 64) for name in ("c", "w", "quotient", "low", "high"))], MOST_BITS[64], 1,
                           reduced_64))
    yield claim("cuda sum of 2 products, 64 bits", "cuda_reduced_of_two_64", "q in [4, 2^61), a, b in [0, q)",
                "the sum, in [0, q)", reduced_of_two_64)
    yield claim("cuda sum by Montgomery", "cuda_fold_32", f"{small}, x below 2^32 q, a below 2^31, b in [0, q)",
                "x + a b + a' b' mod 2^32 q", prove_with(
                    [q_32, ("low", 32), ("high", 32), *factors[:4]], MOST_BITS[32], 2, fold_32))
    yield claim("cuda reduction by Montgomery", "cuda_montgomery_32", f"odd {small}, x below 2^32 q",
                "2^-32 x, in [0, q)", prove_with([q_32, ("inverse", 32), ("x", 64)], MOST_BITS[32], 1, montgomery_32))
