# SPDX-License-Identifier: Apache-2.0
"""Tests of which forms of two vectors are accepted as what a term is mod 2^k. `tools/prove.sh --self-test` runs
them."""
import pathlib
import random
import sys
import unittest

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from proofs.algebra import bilinear, terms  # noqa: E402
from proofs.algebra.evaluation import evaluate  # noqa: E402
from proofs.algebra.facts import NotProved  # noqa: E402
from proofs.algebra.terms import add, bitwise, const, extract, mul, sub, variable, zext  # noqa: E402


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


if __name__ == "__main__":
    unittest.main()
