# SPDX-License-Identifier: Apache-2.0
"""Tests that what is found about the integers of terms holds for every input: rules and tables. `tools/prove.sh
--self-test` runs them."""
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
from proofs.algebra import rules, tables, terms  # noqa: E402
from proofs.algebra.evaluation import evaluate  # noqa: E402
from proofs.algebra.facts import Fact, NotProved  # noqa: E402
from proofs.algebra.ranges import Facts  # noqa: E402
from proofs.algebra.terms import (add, bitwise, compare, concat, const, extract, ite, mul, sext, sub,  # noqa: E402
                                  variable, zext)
from proofs.machines.x86.order import chosen  # noqa: E402

Q = 3329


def signed(value, width):
    return terms.signed(value & (1 << width) - 1, width)


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


if __name__ == "__main__":
    unittest.main()
