# SPDX-License-Identifier: Apache-2.0
"""Tests that terms have the values of their operations, however they are simplified. `tools/prove.sh --self-test` runs
them."""
import pathlib
import random
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from proofs.algebra import solver, terms  # noqa: E402
from proofs.algebra.terms import (add, bitwise, compare, concat, const, extract, ite, mul, sext, sub,  # noqa: E402
                                  variable, zext)


class Terms(unittest.TestCase):
    def setUp(self):
        terms.forget()

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


if __name__ == "__main__":
    unittest.main()
