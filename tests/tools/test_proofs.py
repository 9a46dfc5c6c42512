# SPDX-License-Identifier: Apache-2.0
"""Tests that tools/proofs proves nothing false: terms, what is found about their integers, claims, and the meaning of
instructions. `tools/prove.sh --self-test` runs them with what they need."""
import itertools
import math
import operator
import pathlib
import random
import sys
import unittest
from unittest import mock

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from proofs import claims  # noqa: E402
from proofs.algebra import bilinear, rules, solver, tables, terms  # noqa: E402
from proofs.algebra.evaluation import evaluate  # noqa: E402
from proofs.algebra.facts import Fact, NotProved  # noqa: E402
from proofs.algebra.ranges import Facts  # noqa: E402
from proofs.algebra.terms import (add, bitwise, compare, concat, const, extract, ite, mul, sext, sub,  # noqa: E402
                                  variable, zext)
from proofs.families import mlkem, ntru  # noqa: E402
from proofs.machines import memory  # noqa: E402
from proofs.machines.x86.lanes import flatten  # noqa: E402
from proofs.machines.x86.machine import X86  # noqa: E402
from proofs.machines.x86.order import chosen  # noqa: E402

Q = 3329


def signed(value, width):
    return terms.signed(value & (1 << width) - 1, width)


class Code(memory.Library):
    """A library that is one function, f, at START."""

    START = 0x10000

    def __init__(self, code, variable=()):
        self.path = pathlib.Path("code")
        self.bytes = {0: bytes(64), self.START: bytes.fromhex(code) + bytes(8192)}
        self.functions, self.objects, self.outside, self.ambiguous = {"f": self.START}, {}, [], set()
        self.variable, self.linked = list(variable), set()


class Rules(unittest.TestCase):
    """Facts that rules of integers find."""

    def setUp(self):
        terms.forget()

    def of(self, q, *inputs):
        """Returns facts mod q, and a variable for each (width, low, high)."""
        facts, variables = Facts(q), []
        for n, (width, low, high) in enumerate(inputs):
            variables.append(variable(f"x{n}", width))
            facts.assume(variables[-1], low, high)
        return facts, *variables

    def refused(self, facts, term):
        with self.assertRaises(NotProved):
            facts.fact(term)

    def test_sums_beyond_the_width_are_refused(self):
        facts, a, b = self.of(Q, (16, 0, 40000), (16, 0, 25535))
        self.assertEqual(facts.fact(add(a, b)), Fact(0, 65535, {(0,): 1, (1,): 1}))
        facts, a, b = self.of(Q, (16, 0, 40000), (16, 0, 25536))
        self.refused(facts, add(a, b))

    def test_sums_wrap_where_q_divides_the_size(self):
        facts, a, b = self.of(1 << 16, (16, -32768, 32767), (16, -32768, 32767))
        self.assertEqual(facts.fact(mul(a, b)), Fact(0, 65535, {(0, 1): 1}))
        self.refused(facts, extract(mul(a, b), 15, 1))
        facts, a, b = self.of(1 << 16, (8, 0, 255), (8, 0, 255))
        self.refused(facts, add(a, b))

    def test_extension_reads_the_bits_in_one_way(self):
        facts, a, b = self.of(Q, (16, 0, 40000), (16, -3, 3))
        self.refused(facts, sext(add(a, b), 32))
        self.refused(facts, zext(add(a, b), 32))
        facts, a, b = self.of(Q, (16, 5, 32764), (16, -3, 3))
        for extended in (sext(add(a, b), 32), zext(add(a, b), 32)):
            self.assertEqual(facts.fact(extended), Fact(2, 32767, {(0,): 1, (1,): 1}))

    def test_a_table_reads_bits_of_either_kind(self):
        facts, a = self.of(Q, (16, -3, 3))
        self.refused(facts, zext(a, 32))  # 2^16 is not 0 mod q
        facts, a = self.of(Q, (16, 65530, 65535))
        self.assertEqual(facts.fact(sext(a, 32)), Fact(-6, -1, {(0,): 1, (): -65536 % Q}))

    def test_only_the_highest_part_may_be_negative(self):
        facts, a, b = self.of(97, (5, -3, 1), (8, 0, 255))
        self.assertEqual(facts.fact(concat(a, b)), Fact(-768, 511, {(0,): 256 % 97, (1,): 1}))
        self.refused(facts, concat(b, a))
        self.refused(facts, concat(a, a))

    def test_a_constant_is_negative_in_sums_only(self):
        facts, a, b = self.of(Q, (16, 5, 9), (16, 5, 9))
        self.assertEqual(facts.fact(sub(add(a, b), const(3, 16))), Fact(7, 15, {(0,): 1, (1,): 1, (): Q - 3}))
        self.assertEqual(facts.fact(mul(a, const(-2, 16))), Fact(-18, -10, {(0,): Q - 2}))
        self.assertEqual(facts.fact(concat(const(0xFFFF, 16), a)).low, 0xFFFF0005)

    def test_equal_integers_share_tables(self):
        facts, a, b = self.of(Q, (16, -50, 50), (16, -50, 50))
        wide = add(sext(a, 32), sext(b, 32))
        narrow = extract(add(add(a, b), const(7, 16)), 15, 0)
        facts.fact(wide)
        facts.fact(narrow)
        self.assertEqual(facts.offsets.same_as[narrow], (wide, 7))
        chosen = ite(compare("slt", narrow, const(0, 16)), add(narrow, const(Q, 16)), narrow)
        self.assertEqual(facts.fact(chosen), Fact(0, Q - 1, {(0,): 1, (1,): 1, (): 7}))

    def test_a_quotient_is_another_integer(self):
        facts, a, b = self.of(Q, (32, -100, 100), (32, -100, 100))
        whole = add(mul(a, const(4, 32)), mul(b, const(4, 32)))
        facts.fact(whole)
        quotient = extract(whole, 31, 2)
        self.assertEqual(facts.fact(quotient), Fact(-200, 200, {(0,): 1, (1,): 1}))
        self.assertNotIn(quotient, facts.offsets.same_as)
        chosen = ite(compare("slt", quotient, const(0, 30)), add(quotient, const(Q, 30)), quotient)
        self.assertEqual(facts.fact(chosen), Fact(0, Q - 1, {(0,): 1, (1,): 1}))

    def test_a_remainder_stops_a_division(self):
        facts, a, b = self.of(Q, (32, -100, 100), (32, -100, 100))
        for whole in (add(mul(a, const(4, 32)), mul(b, const(2, 32))), add(mul(a, const(4, 32)), const(2, 32))):
            facts.fact(whole)
        self.refused(facts, extract(add(mul(a, const(4, 32)), mul(b, const(2, 32))), 31, 2))
        self.refused(facts, extract(add(mul(a, const(4, 32)), mul(b, const(4, 32))), 30, 2))
        facts, a, b = self.of(256, (32, -100, 100), (32, -100, 100))
        self.refused(facts, extract(add(mul(a, const(4, 32)), mul(b, const(4, 32))), 31, 2))

    def test_montgomery(self):
        q, factor = 8380417, 25847
        facts, a, b = self.of(q, (32, 1 - q, q - 1), (32, 1 - q, q - 1))
        x = add(a, b)

        def reduced(inverse, sign_of_q):
            m = mul(mul(x, const(factor, 32)), const(inverse, 32))
            difference = add(mul(sext(x, 64), const(factor, 64)), mul(sext(m, 64), const(sign_of_q * q, 64)))
            return extract(difference, 63, 32)

        inverse = pow(q, -1, 1 << 32)
        scale = factor * pow(1 << 32, -1, q) % q
        fact = facts.fact(reduced(inverse, -1))
        self.assertEqual(fact.form, {(0,): scale, (1,): scale})
        self.assertLess(max(-fact.low, fact.high), q)
        with mock.patch.object(tables, "LARGEST_TABLE", 1):
            self.refused(facts, reduced(inverse, 1))
            self.refused(facts, reduced(inverse + 2, -1))

    def test_montgomery_by_shifts(self):
        q, factor = 8380417, 25847  # q = 2^23 - 2^13 + 1
        facts, a, b = self.of(q, (32, 1 - q, q - 1), (32, 1 - q, q - 1))
        product = mul(sext(add(a, b), 64), const(factor, 64))

        def reduced(inverse, second):
            m = sext(mul(extract(product, 31, 0), const(inverse, 32)), 64)
            multiple = terms.shift_left(sub(m, terms.shift_left(m, 10)), second)
            return extract(add(sub(multiple, m), product), 63, 32)

        inverse = pow(q, -1, 1 << 32)
        scale = factor * pow(1 << 32, -1, q) % q
        with mock.patch.object(tables, "LARGEST_TABLE", 1):
            fact = facts.fact(reduced(inverse, 13))
            self.assertEqual(fact.form, {(0,): scale, (1,): scale})
            self.assertLess(max(-fact.low, fact.high), q)
            twice = mul(sext(reduced(inverse, 13), 64), const(1 << 32, 64))
            self.assertEqual(facts.fact(extract(twice, 63, 32)).form, fact.form)
            self.refused(facts, reduced(inverse, 12))
            self.refused(facts, reduced(inverse + 2, 13))

    def test_sums_in_another_order(self):
        def total(factor, first):
            facts, x, y = self.of(Q, (16, -16000, 16000), (16, -16000, 16000))
            quotient = sext(extract(mul(sext(y, 32), const(20159, 32)), 31, 26), 16)
            multiple = mul(quotient, const(factor, 16))
            return facts, add(first(x, y), multiple)  # beyond 16 bits, were all three independent

        facts, term = total(Q, sub)
        fact = facts.fact(term)
        self.assertEqual(fact.form, {(0,): 1, (1,): Q - 1})
        self.assertLess(max(-fact.low, fact.high), 16000 + Q + 1)
        self.refused(*total(Q + 1, sub))
        self.refused(*total(Q, add))

    def test_noise_of_bits(self):
        facts, *bits = self.of(Q, *[(1, 0, 1)] * 4)
        table = [const((17 * ((n & 1) + (n >> 1 & 1) - (n >> 2 & 1) - (n >> 3)) + 1664) % Q - 1664, 16)
                 for n in range(16)]
        noise = chosen(table, concat(*reversed(bits)))
        self.assertEqual(facts.fact(noise), Fact(-34, 34, {(0,): 17, (1,): 17, (2,): Q - 17, (3,): Q - 17}))
        doubled = add(noise, noise)
        self.assertEqual(facts.fact(doubled).form[(0,)], 34)
        self.refused(facts, chosen([*table[:15], const(1, 16)], concat(*reversed(bits))))
        self.refused(facts, bitwise("and", bits[0], bits[1]))
        facts, a, b, c = self.of(Q, (1, -1, 0), (1, 0, 1), (16, 0, 1))
        self.refused(facts, bitwise("or", zext(a, 16), mul(zext(b, 16), const(3, 16))))
        self.refused(facts, ite(b, c, const(0, 16)))

    def test_a_variable_is_new_and_fits(self):
        facts, a = self.of(Q, (8, 0, 255))
        with self.assertRaises(ValueError):
            facts.assume(a, 0, 1)
        with self.assertRaises(ValueError):
            facts.assume(variable("y", 8), 0, 256)

    def test_a_sum_that_is_taken_for_granted(self):
        facts, a, b, c = self.of(Q, (16, -32768, 32767), (16, -32768, 32767), (16, -32768, 32767))
        facts.assume_sum(a, b, -32768, 32767)
        for total in (add(a, b), add(b, a)):
            self.assertEqual(facts.fact(sext(total, 32)), Fact(-32768, 32767, {(0,): 1, (1,): 1}))
        self.refused(facts, add(a, c))
        self.refused(facts, sub(a, b))


class Tables(unittest.TestCase):
    """Facts that come from every value of one word; also where a compiled program computes them."""

    def setUp(self):
        terms.forget()

    def test_widths_of_sources(self):
        for widths in ((16, 32), (32, 16)):
            terms.forget()
            facts = Facts(Q)
            for width in widths:
                x = variable(f"x{width}", width)
                facts.assume(x, -10, 10)
                is_ones = ite(compare("eq", x, const(0xFFFF, width)), const(1, 8), const(0, 8))
                if width == 32:
                    self.assertEqual(facts.fact(is_ones), Fact(0, 0, {}))
                else:
                    with self.assertRaises(NotProved):
                        facts.fact(is_ones)

    def test_results_near_the_ends_of_64_bits(self):
        facts, x, y = Facts(Q), variable("x", 64), variable("y", 64)
        facts.assume(x, 0, 2)
        facts.assume(y, 0, 1 << 20)
        last = next(n for n in range(6000) if ((1 << 63) + n - 6000) % Q == 0)
        small = ite(extract(x, 1, 1), const(last - (1 << 63), 64), ite(extract(x, 0, 0), const(3000, 64), const(0, 64)))
        large = ite(extract(y, 0, 0), const(Q - 1 - (1 << 63), 64), const((1 << 63) - 1, 64))
        for term in (small, large):
            with self.assertRaises(NotProved):
                facts.fact(term)

    def test_large(self):
        facts, x = Facts(Q), variable("x", 32)
        facts.assume(x, -(1 << 18), 1 << 18)
        low = extract(mul(extract(x, 15, 0), const(pow(Q, -1, 1 << 16), 16)), 15, 0)
        montgomery = extract(sub(x, mul(sext(low, 32), const(Q, 32))), 31, 16)
        fact = facts.fact(bitwise("xor", bitwise("xor", montgomery, const(5, 16)), const(5, 16)))
        self.assertEqual(fact.form, {(0,): pow(1 << 16, -1, Q)})
        results = [(n - signed(n * pow(Q, -1, 1 << 16), 16) * Q) >> 16 for n in range(-(1 << 18), (1 << 18) + 1)]
        self.assertEqual((fact.low, fact.high), (min(results), max(results)))
        almost = ite(compare("eq", x, const(1 << 18, 32)), const(1, 32), const(0, 32))
        with self.assertRaises(NotProved):
            facts.fact(almost)
        with self.assertRaises(NotProved):  # 2^16 is not 0 mod q
            facts.fact(zext(extract(x, 15, 0), 32))

    def test_large_of_nearly_all_values(self):
        for low, is_right in ((-(1 << 18) + 5, True), (-(1 << 18), False)):
            terms.forget()
            facts, x = Facts(Q), variable("x", 19)
            facts.assume(x, low, (1 << 18) - 1)
            halves = extract(sext(sub(x, const(5, 19)), 20), 19, 0)  # wrong below -2^18 + 5
            again = bitwise("xor", bitwise("xor", halves, const(1, 20)), const(1, 20))
            with mock.patch.object(rules.Rules, "fact", lambda *_: None):
                if is_right:
                    self.assertEqual(facts.fact(again), Fact(low - 5, (1 << 18) - 6, {(0,): 1, (): Q - 5}))
                else:
                    with self.assertRaises(NotProved):
                        facts.fact(again)

    def test_large_and_small_agree(self):
        for width, low, high in ((24, -300, 400), (24, 0, 700), (32, -5, 900), (40, -600, 5)):
            for small in (tables.SMALL_TABLE, 1):
                terms.forget()
                facts, x = Facts(17), variable("x", width)
                facts.assume(x, low, high)
                sign = sext(extract(x, width - 1, width - 1), width)
                size = sub(bitwise("xor", x, sign), sign)
                even = bitwise("and", mul(x, const(2, width)), const(-2, width))
                again = bitwise("xor", sext(bitwise("xor", x, const(9, width)), 64), const(9, 64))
                with mock.patch.object(tables, "SMALL_TABLE", small), self.subTest(width=width, small=small):
                    self.assertEqual(facts.fact(even), Fact(2 * low, 2 * high, {(0,): 2}))
                    self.assertEqual(facts.fact(again), Fact(low, high, {(0,): 1}))
                    if low < 0:
                        with self.assertRaises(NotProved):
                            facts.fact(size)
                    else:
                        self.assertEqual(facts.fact(size), Fact(low, high, {(0,): 1}))


class RandomTerms(unittest.TestCase):
    """Terms of drawn operations have the values of these, and all facts about them hold for every input."""

    BINARY = {"add": (add, operator.add), "sub": (sub, operator.sub), "mul": (mul, operator.mul),
              "and": (lambda a, b: bitwise("and", a, b), operator.and_),
              "or": (lambda a, b: bitwise("or", a, b), operator.or_),
              "xor": (lambda a, b: bitwise("xor", a, b), operator.xor)}

    def test_facts(self):
        found = 0
        for seed in range(800):
            with self.subTest(seed=seed):
                found += self.one(random.Random(seed))
        self.assertGreater(found, 4000)

    def one(self, draw):
        terms.forget()
        q = draw.choice((3, 5, 7, 13, 17, 97, 3329, 2, 16, 256))
        facts, bounds = Facts(q), []
        for _ in range(draw.randint(1, 3)):
            width = draw.choice((1, 1, 4, 5, 6, 8, 12, 16))
            size = min(draw.choice((1, 2, 3, 5, 9, 12)), 1 << width)
            low = draw.choice((0, -(size // 2), draw.randint(-(1 << width - 1), (1 << width) - size)))
            bounds.append((width, low, low + size - 1))
        inputs = list(itertools.product(*(range(low, high + 1) for _, low, high in bounds)))
        pool = []
        for n, (width, low, high) in enumerate(bounds):
            pool.append((variable(f"x{n}", width), [x[n] & (1 << width) - 1 for x in inputs]))
            facts.assume(pool[-1][0], low, high)
        known = {term: np.array(values, dtype=np.uint64) for term, values in pool}
        found = 0
        for _ in range(draw.choice((6, 10, 16))):
            term, values = self.drawn(draw, pool, q, len(inputs))
            values = [value & (1 << term.width) - 1 for value in values]
            got = np.broadcast_to(evaluate(term, known), (len(inputs),))
            self.assertEqual([int(x) for x in got], values)
            self.assertLessEqual(max(values), term.most)
            if term.value is None:
                pool.append((term, values))
                if draw.random() < 0.6:
                    found += self.holds(facts, q, term, values, inputs)
        draw.shuffle(pool)
        return found + sum(self.holds(facts, q, term, values, inputs) for term, values in pool)

    def drawn(self, draw, pool, q, count):
        """Returns a term, and its values, whose bits beyond its width do not count."""
        a, x = draw.choice(pool[-6:])
        width = a.width
        same = [(term, values) for term, values in pool if term.width == width]
        number = draw.choice((0, 1, q, -q, 4, 16, 1 << width - 1, -1, draw.getrandbits(width))) & (1 << width) - 1
        b, y = draw.choice(same) if draw.random() < 0.6 else (const(number, width), [number] * count)
        match draw.choice((*self.BINARY, *self.BINARY, "extend", "part", "part", "concat", "compare", "shift")):
            case "extend":
                wide = draw.choice((width, width + 1, width + 5, min(2 * width, 40)))
                return (sext(a, wide), [signed(v, width) for v in x]) if draw.random() < 0.5 else (zext(a, wide), x)
            case "part":
                low = draw.choice((0, draw.randrange(width)))
                high = draw.choice((width - 1, draw.randint(low, width - 1)))
                return extract(a, high, low), [v >> low for v in x]
            case "concat":
                b, y = draw.choice([(b, y) for b, y in pool if b.width + width <= 48] or [(const(1, 1), [1] * count)])
                return concat(a, b), [v << b.width | w for v, w in zip(x, y)]
            case "compare":
                op = draw.choice(("eq", "ult", "slt"))
                pairs = zip(x, y) if op != "slt" else zip((signed(v, width) for v in x), (signed(w, width) for w in y))
                less = [v == w if op == "eq" else v < w for v, w in pairs]
                return ite(compare(op, a, b), a, b), [v if yes else w for v, w, yes in zip(x, y, less)]
            case "shift":
                by = draw.randrange(width + 2)
                return draw.choice(((terms.shift_left(a, by), [v << by for v in x]),
                                    (terms.shift_right(a, by), [v >> by for v in x]),
                                    (terms.shift_right_signed(a, by), [signed(v, width) >> by for v in x])))
            case op:
                make, compute = self.BINARY[op]
                return make(a, b), [compute(v, w) for v, w in zip(x, y)]

    def holds(self, facts, q, term, values, inputs):
        """Returns whether there is a fact; fails if it does not hold."""
        try:
            fact = facts.fact(term)
        except NotProved:
            return False
        self.assertLess(fact.high - fact.low, 1 << term.width)
        for given, value in zip(inputs, values):
            integer = fact.low + (value - fact.low) % (1 << term.width)
            self.assertLessEqual(integer, fact.high, (term, given))
            if fact.form is not None:
                total = sum(factor * math.prod(given[n] for n in key) for key, factor in fact.form.items())
                self.assertEqual((integer - total) % q, 0, (term, given))
                self.assertTrue(all(0 < factor < q for factor in fact.form.values()))
        return True


class BilinearForms(unittest.TestCase):
    """Which forms of two vectors are accepted as what a term is mod 2^k."""

    def setUp(self):
        terms.forget()
        self.a, self.b = ([variable(f"{name}{n}", 16) for n in range(3)] for name in "ab")
        self.of = {word: (side, n) for side, words in ((bilinear.FIRST, self.a), (bilinear.SECOND, self.b))
                   for n, word in enumerate(words)}

    def expect(self, term, bits, expected):
        """`expected` has the word of b and its factor for each word of a."""
        words, factors = ([[part] for part in parts] for parts in zip(*expected))
        bilinear.Forms(self.of.get).expect([term], (3, 3), bits, np.array(words), np.array(factors))

    def refused(self, term, bits, expected):
        with self.assertRaises(NotProved):
            self.expect(term, bits, expected)

    def test_sums_of_products(self):
        a, b = self.a, self.b
        total = sub(add(mul(a[0], b[1]), mul(mul(a[1], const(5, 16)), b[0])), mul(b[2], a[2]))
        expected = [(1, 1), (0, 5), (2, 65535)]
        self.expect(total, 16, expected)
        self.expect(extract(zext(total, 32), 15, 0), 16, expected)
        self.expect(total, 3, [(1, 9), (0, 5), (2, 7)])
        for wrong in ([(1, 1), (0, 5), (2, 1)], [(1, 1), (0, 5), (1, 65535)], [(1, 1), (0, 5), (-1, 0)],
                      [(1, 1), (0, 4), (2, 65535)]):
            self.refused(total, 16, wrong)
        self.refused(add(total, mul(a[0], b[2])), 16, expected)

    def test_divisions(self):
        x, y = mul(self.a[0], self.b[0]), mul(self.a[1], self.b[1])
        once, none = [(0, 1), (1, 1), (-1, 0)], (-1, 0)
        halved = terms.shift_right(add(add(x, y), add(x, y)), 1)
        self.expect(halved, 15, once)
        self.refused(halved, 16, once)
        self.expect(terms.shift_left(halved, 1), 16, [(0, 2), (1, 2), none])
        quarter = terms.shift_right(mul(sub(add(x, y), sub(y, x)), const(2, 16)), 2)  # of 4 x
        self.expect(quarter, 14, [(0, 1), none, none])
        self.refused(quarter, 15, [(0, 1), none, none])
        self.refused(terms.shift_right(add(add(x, x), y), 1), 8, [(0, 1), none, none])
        self.refused(terms.shift_right(add(x, x), 2), 8, [(0, 0), none, none])
        third = mul(add(x, add(x, x)), const(43691, 16))
        self.expect(third, 16, [(0, 1), none, none])

    def test_what_is_no_form(self):
        a, b = self.a, self.b
        none, product = (-1, 0), mul(a[0], b[0])
        for term in (mul(mul(a[0], a[1]), b[0]), mul(a[0], a[0]), add(product, a[0]), add(product, const(1, 16)), b[0],
                     a[0], bitwise("and", product, b[0]), variable("c", 16), terms.alike(product, 1)):
            self.refused(term, 1, [(0, 1), none, none])
            self.refused(term, 1, [none, none, none])

    def test_drawn_forms_hold(self):
        accepted = 0
        for seed in range(60):
            draw = random.Random(seed)
            self.setUp()
            self.of = {word: self.of[word] for word in (*self.a, self.b[0])}
            pool = [mul(a, self.b[0]) for a in self.a] + [mul(add(*self.a[:2]), self.b[0])]
            for _ in range(12):
                x, y = draw.choices(pool, k=2)
                pool.append(draw.choice((add(x, y), sub(x, y), mul(x, const(draw.getrandbits(3), 16)),
                                         terms.shift_left(x, 2), terms.shift_right(add(x, x), 1),
                                         terms.shift_right(x, draw.choice((1, 2))), zext(extract(x, 11, 0), 16))))
            for term in pool:
                for bits in (16, 15, 14, 12, 10):
                    units = [self.value(term, [n == m for m in range(3)], 1) for n in range(3)]
                    try:
                        self.expect(term, bits, [(0, unit) for unit in units])
                    except NotProved:
                        continue
                    accepted += 1
                    a, b = [draw.getrandbits(16) for _ in range(3)], draw.getrandbits(16)
                    total = sum(x * unit for x, unit in zip(a, units)) * b
                    self.assertEqual((self.value(term, a, b) - total) % (1 << bits), 0, (seed, term, bits))
                    break
        self.assertGreater(accepted, 300)

    def value(self, term, a, b):
        known = {word: np.array([int(x)], dtype=np.uint64) for word, x in zip((*self.a, self.b[0]), (*a, b))}
        return int(evaluate(term, known)[0]) if term.value is None else term.value


class LanesAlike(unittest.TestCase):
    """Registers of which one lane is known, as a function of its own item."""

    def setUp(self):
        terms.forget()
        self.x, self.y = variable("x", 16), variable("y", 16)

    def ran(self, code):
        """Returns a machine that has run the code with x in all lanes of xmm2 and y in those of xmm3."""
        m = X86(Code(code + " c3"))
        m.alike = True
        m.vector[2], m.vector[3] = (m.lanes_alike(word, 64) for word in (self.x, self.y))
        m.call("f")
        return m

    def test_instructions(self):
        x, y = self.x, self.y
        for code, lane in (("62f16d48fdcb", add(x, y)),  # vpaddw zmm1,zmm2,zmm3
                           ("62f16d48f9cb", sub(x, y)),  # vpsubw
                           ("62f16d48d5cb", mul(x, y)),  # vpmullw
                           ("62f1754871d203", terms.shift_right(x, 3)),  # vpsrlw zmm1,zmm2,3
                           ("62f1754871f203", terms.shift_left(x, 3))):  # vpsllw
            m = self.ran(code)
            self.assertIs(m.lane_of(m.vector[1], 16), lane, code)
            self.assertIsNone(m.lane_of(m.vector[1][:32], 16), code)

    def test_other_lanes_are_not_alike(self):
        for code in ("62f16d48fecb",  # vpaddd zmm1,zmm2,zmm3
                     "62f36d480fcb02",  # vpalignr zmm1,zmm2,zmm3,2
                     "62f16d4961cb",  # vpunpcklwd zmm1{k1},zmm2,zmm3
                     "62f16d49fdcb"):  # vpaddw zmm1{k1},zmm2,zmm3
            m = self.ran(code)
            self.assertIsNone(m.lane_of(m.vector[1], 16), code)
            self.assertIsNone(m.lane_of(m.vector[1], 32), code)
        m = self.ran("90")
        self.assertIsNone(m.lane_of(m.vector[2], 32))
        self.assertIsNone(m.lane_of(m.vector[2][2:] + m.vector[2][:2], 16))
        self.assertIsNone(m.lane_of(m.vector[2][:62] + m.vector[3][:2], 16))

    def test_constants(self):
        m = X86(Code("c3"))
        lane = memory.bytes_of(const(0x1234, 16))
        self.assertIs(m.lane_of(lane * 8, 16), const(0x1234, 16))
        self.assertIs(m.lane_of(lane * 8, 16), const(0x1234, 16))
        self.assertIs(m.lane_of(lane * 8, 32), const(0x12341234, 32))
        self.assertIsNone(m.lane_of(lane * 8, 8))
        self.assertIsNone(m.lane_of(lane * 7 + lane[::-1], 16))

    def test_nothing_is_known_of_all_lanes(self):
        facts = Facts(Q)
        facts.assume(self.x, 0, 3)
        for term in (terms.alike(self.x, 2), extract(terms.alike(self.x, 2), 15, 0)):
            with self.assertRaises(NotProved):
                facts.fact(term)

    def test_rows_of_an_array(self):
        run = claims.Run(Code("c5fd6f06 c5fd7f07 c5fd6f4620 c4e37d0fc902 c5fd7f4f20 c3"), Q)  # the second is rotated
        a, c = run.unknown_lanes("a", 2, 16), run.space()
        run.machine.call("f", c, a.address)
        self.assertIs(run.lane(c, 0, 16), a.words[0])
        with self.assertRaises(NotProved):
            run.lane(c, 1, 16)


class Terms(unittest.TestCase):
    def test_terms_of_different_runs_are_not_mixed(self):
        terms.forget()
        old = const(0, 8)
        terms.forget()
        x, y = variable("x", 8), variable("y", 8)
        self.assertIsNot(concat(x, y), concat(old, y))

    def test_widths_are_equal(self):
        a, b = variable("a", 8), variable("b", 16)
        for make in (add, sub, mul, lambda x, y: compare("eq", x, y), lambda x, y: ite(variable("c", 1), x, y)):
            with self.assertRaises(ValueError):
                make(a, b)

    def test_halves_of_products(self):
        a, b = variable("a", 16), variable("b", 16)
        for extend, other in ((sext, zext), (zext, sext)):
            product = mul(extend(a, 32), extend(b, 32))
            self.assertIs(concat(extract(product, 31, 16), mul(a, b)), product)
            self.assertIsNot(concat(extract(product, 31, 16), mul(a, b)), mul(other(a, 32), other(b, 32)))
            self.assertIsNot(concat(extract(product, 31, 16), mul(a, a)), product)

    def test_sums_of_fields(self):
        bits = [variable(f"b{n}", 1) for n in range(16)]
        even, odd = (concat(*(zext(bit, 2) for bit in bits[n::2])) for n in (0, 1))
        total = add(even, odd)
        self.assertEqual(total.op, "concat")
        self.assertTrue(solver.equal(total, terms._make("add", (even, odd), 16)))
        self.assertIs(extract(total, 3, 2), add(zext(bits[12], 2), zext(bits[13], 2)))
        threes = add(total, concat(*(zext(bit, 2) for bit in bits[8:])))
        self.assertIs(extract(threes, 1, 0), add(extract(total, 1, 0), zext(bits[15], 2)))
        fours = add(threes, concat(*(zext(bit, 2) for bit in bits[:8])))  # with carries
        eighth = concat(*(zext(bit, 2) for bit in bits[:8]))
        self.assertTrue(solver.equal(fours, terms._make("add", (threes, eighth), 16)))
        swapped = concat(*(extract(fours, 2 * n + 1, 2 * n) for n in (7, 6, 5, 4, 3, 2, 0, 1)))
        self.assertFalse(solver.equal(fours, swapped))

    def test_sums_of_drawn_fields(self):
        draw = random.Random(1)
        for _ in range(60):
            a, b = (concat(*(draw.choice((const(draw.getrandbits(n), n), const(0, n), variable(f"{name}{at}", n)))
                             for at, n in enumerate(widths)))
                    for name, widths in (("a", (3, 1, 4, 2, 6)),
                                         ("b", draw.choice(((3, 1, 4, 2, 6), (5, 11), (16,))))))
            self.assertTrue(solver.equal(add(a, b), terms._make("add", (a, b), 16)), (a, b))
            self.assertTrue(solver.equal(bitwise("and", a, b), terms._make("and", (a, b), 16)), (a, b))

    def test_joined_products(self):
        x, y = variable("x", 6), variable("y", 6)
        joined = add(zext(x, 16), mul(zext(y, 16), const(64, 16)))
        self.assertIs(joined, zext(concat(y, x), 16))
        self.assertIsNot(add(zext(x, 16), mul(zext(y, 16), const(32, 16))), zext(concat(y, x), 16))
        self.assertIs(sub(const(9, 16), sub(const(9, 16), zext(x, 16))), zext(x, 16))
        self.assertIs(sub(const(9, 16), sub(const(7, 16), zext(x, 16))), add(zext(x, 16), const(2, 16)))

    def test_sums_of_multiples(self):
        x, y = sext(variable("x", 8), 16), variable("y", 16)
        for term in (x, y):
            less = sub(term, terms.shift_left(term, 3))
            self.assertIs(less, mul(term, const(-7, 16)))
            self.assertIs(add(terms.shift_left(less, 2), term), mul(term, const(-27, 16)))
        for a, b in ((terms.shift_left(x, 3), y), (x, terms.shift_left(zext(variable("x", 8), 16), 9)),
                     (y, concat(extract(y, 11, 1), const(0, 5))), (y, concat(sext(extract(y, 9, 0), 12), const(0, 4)))):
            for make, op in ((add, "add"), (sub, "sub")):
                self.assertTrue(solver.equal(make(a, b), terms._make(op, (a, b), 16)), (op, a, b))

    def test_signs_that_are_known(self):
        x = zext(variable("x", 7), 8)
        self.assertEqual(compare("slt", x, const(-1, 8)).value, 0)
        self.assertEqual(compare("slt", const(-1, 8), x).value, 1)
        self.assertEqual(compare("slt", const(127, 8), x).value, 0)
        self.assertEqual(compare("ult", x, const(0, 8)).value, 0)
        for a, b in ((const(126, 8), x), (x, const(1, 8)), (x, const(127, 8)), (variable("y", 8), const(-1, 8))):
            self.assertIsNone(compare("slt", a, b).value)

    def test_the_solver_knows_all_operations(self):
        a, b = variable("a", 8), variable("b", 8)
        self.assertTrue(solver.equal(add(a, b), sub(a, sub(const(0, 8), b))))
        self.assertTrue(solver.equal(sext(a, 16), sub(bitwise("xor", zext(a, 16), const(128, 16)), const(128, 16))))
        self.assertTrue(solver.equal(compare("ult", a, b), extract(sub(zext(a, 9), zext(b, 9)), 8, 8)))
        self.assertTrue(solver.equal(ite(compare("eq", a, b), a, b), b))
        self.assertFalse(solver.equal(compare("slt", a, b), extract(sub(a, b), 7, 7)))
        self.assertFalse(solver.equal(concat(a, b), concat(b, a)))


class Claims(unittest.TestCase):
    def setUp(self):
        terms.forget()
        self.run_ = claims.Run(Code("c3"), Q)
        self.a = self.run_.unknown("a", 2, 0, 4095)
        self.total = add(self.a.words[0], mul(self.a.words[1], const(2, 16)))

    def test_results(self):
        self.run_.expect(self.total, {(0,): 1, (1,): 2}, 0, 3 * 4095, "it")
        for form in ({(0,): 1, (1,): 3}, {(0,): 1}, {(0,): 1, (1,): 2, (): 1}, {(0,): 1, (1,): 2, (): 0}, {}):
            with self.assertRaises(NotProved):
                self.run_.expect(self.total, form, 0, 3 * 4095, "it")
        for low, high in ((1, 3 * 4095), (0, 3 * 4095 - 1)):
            with self.assertRaises(NotProved):
                self.run_.expect(self.total, {(0,): 1, (1,): 2}, low, high, "it")

    def test_functions_of_one_word(self):
        word = self.a.words[0]
        result = bitwise("and", word, const(0xFF0, 16))
        self.run_.expect_table(result, word, lambda x: x & 0xFF0, "it")
        with self.assertRaises(NotProved):
            self.run_.expect_table(result, word, lambda x: x & 0xFF0 | (x == 4095), "it")
        with self.assertRaises(NotProved):
            self.run_.expect_table(self.total, word, lambda x: x, "it")

    def test_functions_of_two_words(self):
        self.run_.expect_table(self.total, self.a.words, lambda x, y: x + 2 * y, "it")
        for wrong in (lambda x, y: y + 2 * x, lambda x, y: x + 2 * y + (x + y == 8190)):
            with self.assertRaises(NotProved):
                self.run_.expect_table(self.total, self.a.words, wrong, "it")

    def test_tables_are_shared_by_equal_functions_only(self):
        def expected(x):
            return x + 5

        first, second = self.a.words
        self.run_.expect_table(add(first, const(5, 16)), first, expected, "it")
        self.run_.expect_table(add(second, const(5, 16)), second, expected, "it")
        for term, source in ((add(second, const(6, 16)), second), (sub(second, const(5, 16)), second),
                             (add(first, const(5, 16)), second)):
            with self.assertRaises(NotProved):
                self.run_.expect_table(term, source, expected, "it")
        other = self.run_.unknown("b", 1, 0, 65535)
        with self.assertRaises(NotProved):
            self.run_.expect_table(zext(add(other.words[0], const(5, 16)), 32), other.words[0], expected, "it")

    def test_depends_on_no_other_word(self):
        with self.assertRaises(NotProved):
            self.run_.expect_table(self.total, self.a.words[:1], lambda x: x, "it")

    def test_packed_fields(self):
        fields = self.run_.stream("f", 8, 5)
        self.run_.expect_packed(fields.address, fields.words)
        self.assertIs(self.run_.result(fields.address, 0, 8),
                      concat(extract(fields.words[1], 2, 0), fields.words[0]))
        with self.assertRaises(NotProved):
            self.run_.expect_packed(fields.address, [fields.words[n] for n in (0, 1, 2, 3, 4, 5, 7, 6)])
        self.assertIs(self.run_.field(fields.address, 3, 5), fields.words[3])
        words = self.run_.store(fields.words)
        self.assertIs(self.run_.result(words, 7), zext(fields.words[7], 16))

    def test_functions_of_pairs(self):
        x, y, z = (variable(name, 4) for name in "xyz")
        known = set()

        def expect(term, b=y, f=lambda x, y: (x - y) & 15):
            ntru.expect_of_pairs(term, x, b, f, known, "it")

        expect(sub(x, y))
        self.assertEqual(len(known), 1)
        expect(sub(x, z), z)
        self.assertEqual(len(known), 1)
        expect(add(x, sub(const(0, 4), y)))
        expect(const(0, 4), x)
        almost = ite(compare("eq", concat(x, y), const(0x73, 8)), const(0, 4), sub(x, y))
        for term in (sub(y, x), almost, sub(x, z), x):
            with self.assertRaises(NotProved):
                expect(term)

    def test_ternary_words(self):
        run = claims.Run(Code("c3"), 3)
        a, b = run.unknown("a", 2, *ntru.ANY_WORD), run.unknown("b", 2, *ntru.ANY_WORD)
        leaf = ntru.ternary_words(run, a, b)
        x = a.words[1]
        bits = zext(extract(x, 1, 0), 16)
        both = bitwise("and", extract(x, 0, 0), extract(x, 1, 1))
        self.assertEqual(leaf(sub(bits, zext(both, 16))), (bilinear.FIRST, 1))
        for term in (x, bits, add(bits, b.words[0]), add(bits, zext(both, 16))):
            self.assertIsNone(leaf(term))

    def test_bounds_of_the_header(self):
        bounds = (pathlib.Path(__file__).resolve().parents[2] / "src/prim/ntt/bounds.hpp").read_text()
        self.assertIn("kTransformBound = (1 + 7) * int{kQ};", bounds)
        self.assertIn("kProductBound = montgomery_bound(sum_bound(3, kTransformBound));", bounds)
        self.assertIn("return static_cast<int>((bound - 1 + (int64_t{kQ} << 15)) >> 16) + 1;", bounds)
        self.assertIn("return (terms * (odd + kQ)) << 12;", bounds)
        self.assertEqual(mlkem.PRODUCT_BOUND, 7283)
        self.assertEqual(mlkem.product_bound(4), Q)
        plans = (pathlib.Path(__file__).resolve().parents[2] / "src/prim/polymul/lanes/products.hpp").read_text()
        for n, bits in ntru.EXACT_BITS.items():
            self.assertIn(f"struct ProductPlan<{n}> {{\n  static constexpr unsigned kExactBits = {bits};", plans)


def lanes_of(register, width, count):
    value = memory.value_of(register).value
    return [value >> n * width & (1 << width) - 1 for n in range(count)]


class Instructions(unittest.TestCase):
    """Instructions on known words, against values from Intel's manual."""

    def setUp(self):
        terms.forget()

    def ran(self, code, vectors=(), general=(), masks=()):
        """Returns a machine that has run the code. `vectors` are (number, width, lanes), `general` and `masks` (number,
        value); lanes that are not given are known to be 0x55..."""
        m = X86(Code(code + " c3"))
        m.general = [const(0x5555555555555555, 64)] * 16
        m.mask = [const(0, 64)] * 8
        m.vector = [memory.bytes_of(const(int("55" * 64, 16), 512)) for _ in range(32)]
        for number, width, lanes in vectors:
            low = flatten(const(lane, width) for lane in lanes)
            m.vector[number] = low + m.vector[number][len(low):]
        for number, value in general:
            m.general[number] = const(value, 64)
        for number, value in masks:
            m.mask[number] = const(value, 64)
        m.call("f")
        return m

    def lanes(self, code, width, expected, *vectors, masks=(), rest=0):
        """The code leaves the expected lanes in xmm1, and `rest` in all bytes above."""
        register = self.ran(code, vectors, masks=masks).vector[1]
        self.assertEqual(lanes_of(register, width, len(expected)), [x & (1 << width) - 1 for x in expected])
        above = len(expected) * width // 8
        self.assertEqual(lanes_of(register[above:], 8, 64 - above), [rest] * (64 - above))

    def test_saturation(self):
        a = (2, 16, (-1, 0, 255, 256, 0x7FFF, -0x8000, 5, 128))
        self.lanes("c5e967ca", 8, (0, 0, 255, 255, 255, 0, 5, 128) * 2, a, (2, 16, a[2]))  # vpackuswb xmm1,xmm2,xmm2
        b = (3, 32, (0x10000, -1, 0xFFFF, 0x8000, 9, 10, 11, 12))
        # vpackusdw ymm1,ymm3,ymm3: in each 128 bits
        self.lanes("c4e2652bcb", 16, (0xFFFF, 0, 0xFFFF, 0x8000) * 2 + (9, 10, 11, 12) * 2, b)

    def test_products(self):
        a = (2, 16, (0x4000, -0x8000, -1, 1, -3, 0x7FFF, 0, 2))
        b = (3, 16, (3, -0x8000, 0x4000, 0x2000, 0x4000, 0x7FFF, 5, 0x3FFF))
        self.lanes("c4e2690bcb", 16, (2, -0x8000, 0, 0, -1, 0x7FFE, 0, 1), a, b)  # vpmulhrsw
        # vpmaddwd: -0x8000 * -0x8000 twice is -2^31
        self.lanes("c5e9f5cb", 32, (-(1 << 31), 7, 0, 0), (2, 16, (-0x8000, -0x8000, 1, 2, 0, 0, 0, 0)),
                   (3, 16, (-0x8000, -0x8000, 3, 2, 9, 9, 0, 0)))
        # vpmaddubsw: bytes of xmm2 are unsigned, sums saturate
        self.lanes("c4e26904cb", 16, (0x7FFF, -0x8000, -1, 10, 0, 0, 0, 0),
                   (2, 8, (255, 255, 255, 255, 1, 0, 1, 2) + (0,) * 8),
                   (3, 8, (127, 127, -128, -128, -1, 77, 4, 3) + (9,) * 8))

    def test_choices(self):
        a, b, c = (1, 32, (0xF0F0F0F0, 1, -1, 2)), (2, 32, (0x11111111,) * 4), (3, 32, (0x22222222,) * 4)
        # vpternlogd xmm1{k1},xmm2,xmm3,0xca: bits of xmm2 where xmm1 has ones, else of xmm3
        self.lanes("62f36d0925cbca", 32, (0x12121212, 1, 0x11111111, 2), a, b, c, masks=[(1, 5)])
        # vpternlogd xmm1,xmm1,xmm1,0xff is ones, whatever was there
        m = X86(Code("62f3750825c9ff c3"))
        m.call("f")
        self.assertEqual(memory.value_of(m.vector[1]).value, (1 << 128) - 1)
        table, other = (16, tuple(range(8))), (16, tuple(range(8, 16)))
        index = (16, (15, 8, 7, 0, 16, 1, 9, 31))
        self.lanes("62f2ed087dcb", 16, (15, 8, 7, 0, 0, 1, 9, 15), (1, *table), (2, *index), (3, *other))  # vpermt2w
        self.lanes("62f2ed0875cb", 16, (15, 8, 7, 0, 0, 1, 9, 15), (1, *index), (2, *table), (3, *other))  # vpermi2w
        # vpblendmw xmm1{k1}{z}
        self.lanes("62f2ed8966cb", 16, (0, 9, 0, 11, 0, 0, 0, 15), (2, *table), (3, *other), masks=[(1, 0x8A)])
        # vpshufb ymm1,ymm2,ymm3: within 128 bits, and zero where the highest bit is set
        self.lanes("c4e26d00cb", 8, (15, 0, 0, 5) * 4 + (31, 0, 16, 21) * 4, (2, 8, tuple(range(32))),
                   (3, 8, (15, 0x81, 0x70, 5) * 8))

    def test_inserted_lanes(self):
        a, b = (2, 32, (1, 2, 3, 4)), (3, 32, (5, 6, 7, 8))
        self.lanes("c4e36921cbe2", 32, (1, 0, 8, 4), a, b)  # vinsertps xmm1,xmm2,xmm3,0xe2
        self.lanes("c4e3694ccb40", 8, (16, 1, 2, 19) + (0,) * 12, (2, 8, (0, 1, 2, 3) + (0,) * 12),
                   (3, 8, (16, 17, 18, 19) + (9,) * 12), (4, 8, (0x80, 0x7F, 0, 0xFF) + (0,) * 12))  # vpblendvb

    def test_masks(self):
        a, b, old = (2, 32, tuple(range(8))), (3, 32, (10,) * 8), (1, 32, tuple(range(100, 108)))
        self.lanes("62f16da9fecb", 32, (10, 0, 12, 0, 0, 0, 0, 17), a, b, old, masks=[(1, 0x85)])  # vpaddd ymm1{k1}{z}
        self.lanes("62f16d29fecb", 32, (10, 101, 12, 103, 104, 105, 106, 17), a, b, old, masks=[(1, 0x85)])
        # vshufi32x4 ymm1{k1},ymm2,ymm3,1: lanes of 32 bits
        self.lanes("62f36d2943cb01", 32, (4, 101, 6, 103, 10, 10, 106, 107), a, b, old, masks=[(1, 0x35)])
        # vpmovdw xmm1{k1},xmm2 clears what is above four words
        self.lanes("62f27e0933d1", 16, (0, 0x5555, 2, 0x5555), a, masks=[(1, 0xF5)])
        self.lanes("660ffdca", 16, (3,) * 8, (1, 16, (1,) * 8), (2, 16, (2,) * 8), rest=0x55)  # paddw keeps the rest
        m = self.ran("62f16d0a65cb", [(2, 16, (1, 2, 3, -4, 0, 0, 0, 0)), (3, 16, (0, 0, 5, -5, 0, 0, 0, 0))],
                     masks=[(2, 0xFD)])  # vpcmpgtw k1{k2},xmm2,xmm3
        self.assertEqual(m.mask[1].value, 9)
        self.assertEqual(self.ran("c5f893c1", masks=[(1, 0x123456)]).general[0].value, 0x3456)  # kmovw eax,k1
        self.assertEqual(self.ran("c5f992c8", general=[(0, 0x123456)]).mask[1].value, 0x56)  # kmovb k1,eax

    def test_order_of_lanes(self):
        a, b = (2, 8, tuple(range(16))), (3, 8, tuple(range(16, 32)))
        self.lanes("c4e3690fcb04", 8, tuple(range(20, 32)) + (0, 1, 2, 3), a, b)  # vpalignr xmm1,xmm2,xmm3,4
        a, b = (2, 16, tuple(range(16))), (3, 16, tuple(range(100, 116)))
        self.lanes("c5ed61cb", 16, (0, 100, 1, 101, 2, 102, 3, 103, 8, 108, 9, 109, 10, 110, 11, 111),
                   a, b)  # vpunpcklwd

        a, b = (2, 16, tuple(range(16))), (3, 16, tuple(range(100, 116)))
        self.lanes("c5ff70ca1b", 16, (3, 2, 1, 0, 4, 5, 6, 7, 11, 10, 9, 8, 12, 13, 14, 15), a)  # vpshuflw ymm1,ymm2,27
        self.lanes("c5fe70ca1b", 16, (0, 1, 2, 3, 7, 6, 5, 4, 8, 9, 10, 11, 15, 14, 13, 12), a)  # vpshufhw
        signs = (4, 8, (0x80, 0, 0x7F, 0xFF) * 4)
        self.lanes("c4e3694ccb40", 8, (16, 1, 2, 19, 20, 5, 6, 23, 24, 9, 10, 27, 28, 13, 14, 31),
                   (2, 8, tuple(range(16))), (3, 8, tuple(range(16, 32))), signs)  # vpblendvb xmm1,xmm2,xmm3,xmm4

    def test_double_shifts(self):
        a, b = (2, 16, (0x1234,) * 8), (3, 16, (0xABCD,) * 8)
        self.lanes("62f3ed0870cb04", 16, (0x234A,) * 8, a, b)  # vpshldw xmm1,xmm2,xmm3,4
        self.lanes("62f3ed0872cb04", 16, (0xD123,) * 8, a, b)  # vpshrdw

    def test_long_shifts(self):
        a = (2, 16, (1, -1, 0x7FFF, -0x8000) * 2)
        for count in (16, 17, 1 << 40):
            self.lanes("c5e9f1cb", 16, (0,) * 8, a, (3, 64, (count, 1)))  # vpsllw
            self.lanes("c5e9e1cb", 16, (0, -1, 0, -1) * 2, a, (3, 64, (count, 1)))  # vpsraw

    def test_general_registers(self):
        a, b = 0x1122334455667788, 0xFFFFFFFFFFFFFF99
        for code, expected in (("88dc", 0x1122334455669988),  # mov ah,bl
                               ("6601d8", 0x1122334455667721),  # add ax,bx
                               ("01d8", 0x55667721),  # add eax,ebx
                               ("c0f809", 0x11223344556677FF),  # sar al,9
                               ("f7d8", 0xAA998878)):  # neg eax
            self.assertEqual(self.ran(code, general=[(0, a), (3, b)]).general[0].value, expected, code)
        # shl eax,cl; sbb eax,ebx after cmp rax,rbx
        self.assertEqual(self.ran("d3e0", general=[(0, a), (1, 33)]).general[0].value, 0x55667788 * 2 & 0xFFFFFFFF)
        self.assertEqual(self.ran("4839d8 19d8", general=[(0, a), (3, b)]).general[0].value,
                         (0x55667788 - 0xFFFFFF99 - 1) % (1 << 32))

    def test_flags(self):
        def flags(code, a, b, count=0):
            return self.ran(code, general=[(0, a), (3, b), (1, count)])

        m = flags("4839d8", 1, -1)  # cmp rax,rbx
        self.assertEqual([m.condition(code).value for code in ("b", "ae", "l", "ge", "e", "a", "g")],
                         [1, 0, 0, 1, 0, 0, 1])
        m = flags("4839d8", 1 << 63, 1)
        self.assertEqual([m.condition(code).value for code in ("b", "l", "s", "be", "le")], [0, 1, 0, 0, 1])
        self.assertEqual(flags("4839d8 d3e0", 5, 5, 32).condition("e").value, 1)  # shl by 0 keeps them
        with self.assertRaises(memory.NotFollowed):
            flags("01d8", 1, 2).condition("l")

    def test_what_is_not_followed(self):
        for code in ("0ffdca",  # paddw mm1,mm2
                     "6a05",  # push 5
                     "66 0f 6f 0c 25 08 00 01 00",  # movdqa xmm1,[0x10008]
                     "8b042508000000",  # mov eax,[8]
                     "65488b042528000000",  # mov rax,gs:[0x28]
                     "678b06"):  # mov eax,[esi]
            with self.assertRaises(memory.NotFollowed):
                self.ran(code, general=[(6, Code.START)])
        m = X86(Code("8b0500100000c3", variable=[range(Code.START + 0x1000, Code.START + 0x2000)]))
        with self.assertRaises(memory.NotFollowed):
            m.call("f")

    def test_code_may_end_where_its_segment_does(self):
        library = Code("")
        library.bytes[Code.START] = bytes.fromhex("89d8c3")  # mov eax,ebx
        m = X86(library)
        m.general[3] = const(7, 64)
        m.call("f")
        self.assertEqual(m.general[0].value, 7)

    def test_thread_data_is_unknown(self):
        # mov rax,fs:[0x28]; sub rax,fs:[0x28]
        self.assertIsNone(self.ran("64488b042528000000").general[0].value)
        self.assertEqual(self.ran("64488b042528000000 64482b042528000000").general[0].value, 0)

    def test_functions_that_are_replaced(self):
        m = X86(Code("e8 0b 00 00 00 c3" + "90" * 10 + "b8 01 00 00 00 c3"))  # f calls g, which returns 1
        m.call("f")
        self.assertEqual(m.general[0].value, 1)
        m = X86(m.library)
        m.instead[Code.START + 16] = lambda m: m.memory.store(0x20000, memory.bytes_of(const(5, 64)))
        m.call("f")
        self.assertEqual(memory.value_of(m.memory.load(0x20000, 8)).value, 5)
        self.assertIsNone(m.general[0].value)

    def test_names_of_functions(self):
        code = Code("c3")
        code.functions |= {"one_f": 1, "two_f": 2}
        self.assertEqual(code.function("one*"), 1)
        for name in ("*_f", "three*"):
            with self.assertRaises(memory.NotFollowed):
                code.function(name)

    def test_memory_that_may_hold_anything(self):
        m = memory.Memory(Code("c3"))
        m.unknown.append(range(0x20000, 0x20010))
        self.assertIsNone(memory.value_of(m.load(0x20000, 4)).value)
        with self.assertRaises(memory.NotFollowed):
            m.load(0x2000F, 2)

    def test_memory_overlaps(self):
        m = memory.Memory(Code("c3"))
        m.store(0x20000, memory.bytes_of(const(0x1122334455667788, 64)))
        m.store(0x20003, memory.bytes_of(const(0xAABB, 16)))
        self.assertEqual(memory.value_of(m.load(0x20000, 8)).value, 0x112233AABB667788)
        x = variable("x", 32)
        m.store(0x20002, memory.bytes_of(x))
        self.assertIs(memory.value_of(m.load(0x20002, 4)), x)
        self.assertIs(memory.value_of(m.load(0x20003, 2)), extract(x, 23, 8))


if __name__ == "__main__":
    unittest.main()
