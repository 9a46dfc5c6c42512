# SPDX-License-Identifier: Apache-2.0
"""Tests that proofs of ML-KEM's interleaved items and fused steps accept nothing false. `tools/prove.sh --self-test`
runs them."""
import pathlib
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from proofs import claims  # noqa: E402
from proofs.algebra import terms  # noqa: E402
from proofs.algebra.facts import NotProved  # noqa: E402
from proofs.algebra.terms import (add, bitwise, compare, const, extract, mul, sext, sub, variable,  # noqa: E402
                                  zext)
from proofs.families import mlkem_blocks, mlkem_x8  # noqa: E402
from proofs.families.mlkem import Q  # noqa: E402
from proofs_code import Code  # noqa: E402


class Case(unittest.TestCase):
    def setUp(self):
        terms.forget()
        self.run_ = claims.Run(Code("c3"), Q)

    def word(self, name, low, high, width=16):
        word = variable(name, width)
        self.run_.facts.assume(word, low, high)
        return word

    def refuses(self, check, *arguments):
        with self.assertRaises(NotProved):
            check(self.run_, *arguments)


class Encoded(Case):
    """Two words of 12 bits, which one instruction adds."""

    def setUp(self):
        super().setUp()
        self.x, self.y = self.word("x", 0, Q - 1), self.word("y", 0, Q - 1)

    def pair(self, x, y, factor=1 << 12):
        return extract(add(sext(x, 32), mul(sext(y, 32), const(factor, 32))), 23, 0)

    def test_words_in_range(self):
        forms = [{(0,): 1}, {(1,): 1}]
        mlkem_x8.expect_encoded(self.run_, self.pair(self.x, self.y), forms, set(), "a pair")
        for wrong in (self.pair(self.y, self.x), self.pair(self.x, self.y, 1 << 11),
                      self.pair(self.x, add(self.y, const(1, 16)))):
            self.refuses(mlkem_x8.expect_encoded, wrong, forms, set(), "a pair")
        self.refuses(mlkem_x8.expect_encoded, self.pair(self.x, self.y), [{(0,): 1}, {(1,): 2}], set(), "a pair")

    def test_what_was_proved_is_of_the_same_fields(self):
        proved = set()
        z = self.word("z", 0, Q - 1)
        mlkem_x8.expect_encoded(self.run_, self.pair(self.x, self.y), [{(0,): 1}, {(1,): 1}], proved, "a pair")
        mlkem_x8.expect_encoded(self.run_, self.pair(self.y, z), [{(1,): 1}, {(2,): 1}], proved, "a pair")
        self.assertEqual(len(proved), 1)
        self.refuses(mlkem_x8.expect_encoded, self.pair(z, self.y), [{(1,): 1}, {(2,): 1}], proved, "a pair")

    def test_words_beyond_their_range(self):
        wide = self.word("wide", -1, Q - 1)
        self.refuses(mlkem_x8.expect_encoded, self.pair(self.x, wide), [{(0,): 1}, {(2,): 1}], set(), "a pair")


class Compressed(Case):
    """x + y + q is compressed to one bit."""

    def setUp(self):
        super().setUp()
        self.total = add(add(self.word("x", 0, Q - 1), self.word("y", 0, Q - 1)), const(Q, 16))
        middle = [compare("ult", const(832 + k * Q, 16), self.total) for k in range(4)]
        end = [compare("ult", const(2496 + k * Q, 16), self.total) for k in range(4)]
        self.bit = const(0, 1)
        for begin, beyond in zip(middle, end):
            self.bit = bitwise("xor", self.bit, bitwise("xor", begin, beyond))
        self.form = {(0,): 1, (1,): 1}

    def expect(self, run, bit, form, ends=mlkem_x8.BEFORE_COMPRESSION):
        mlkem_x8.expect_function(run, bit, form, ends, mlkem_x8.COMPRESSED[1], "a bit")

    def test_functions(self):
        self.expect(self.run_, self.bit, self.form)
        self.expect(self.run_, self.bit, {(0,): 1 - Q, (1,): 1, (): Q})
        self.refuses(self.expect, bitwise("xor", self.bit, const(1, 1)), self.form)
        self.refuses(self.expect, self.bit, {(0,): 1})
        self.refuses(self.expect, self.bit, {(0,): 1, (1,): 1, (): 1})
        self.refuses(self.expect, self.bit, self.form, (0, 2 * Q - 3))

    def test_comparisons(self):
        there = self.word("there", 0, 1, 1)
        other = self.word("other", 0, 1, 1)
        right = {bitwise("xor", there, self.bit)}
        mlkem_x8.expect_comparison(self.run_, right, [self.form], [there], 0)
        for wrong in (set(), {self.bit}, {bitwise("xor", other, self.bit)}, {*right, other},
                      {bitwise("xor", bitwise("xor", there, const(1, 1)), self.bit)}):
            self.refuses(mlkem_x8.expect_comparison, wrong, [self.form], [there], 0)
        self.refuses(mlkem_x8.expect_comparison, right, [self.form, {(0,): 1}], [there, other], 0)


class Below(Case):
    """The check of a public key."""

    def test_all_words_are_checked(self):
        x, y = (self.word(name, 0, 4095) for name in "xy")
        above_x, above_y = (sub(const(Q - 1, 16), word) for word in (x, y))
        either = extract(bitwise("or", above_x, above_y), 15, 15)
        right = zext(compare("eq", either, const(0, 1)), 8)
        mlkem_blocks.expect_all_below_q(self.run_, right, {x, y}, 0)
        shifted = extract(bitwise("or", above_x, sub(const(Q, 16), y)), 15, 15)
        for wrong in (zext(either, 8), zext(compare("eq", shifted, const(0, 1)), 8), const(1, 8),
                      zext(compare("eq", extract(above_x, 15, 15), const(0, 1)), 8), sext(extract(right, 0, 0), 8)):
            self.refuses(mlkem_blocks.expect_all_below_q, wrong, {x, y}, 0)
        self.refuses(mlkem_blocks.expect_all_below_q, right, {x}, 0)


if __name__ == "__main__":
    unittest.main()
