# SPDX-License-Identifier: Apache-2.0
"""Tests that what proofs of NTRU's sorts, inversions and ternary products rest on accepts nothing false.
`tools/prove.sh --self-test` runs them."""
import itertools
import pathlib
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from proofs.algebra import gf3, terms  # noqa: E402
from proofs.algebra.facts import NotProved  # noqa: E402
from proofs.algebra.terms import bitwise, const, variable  # noqa: E402
from proofs.families import ntru_inverse  # noqa: E402
from proofs.families.networks import Choice, Network  # noqa: E402

BATCHER_4 = [(0, 1), (2, 3), (0, 2), (1, 3), (1, 2)]


def network(count, comparators, first=None):
    """Returns the Network of comparators on words, and gives the `first` ones of its outputs."""
    terms.forget()
    inputs = [variable(f"x{n}", 32) for n in range(count)]
    now, choices = list(inputs), {}
    for n, (low, high) in enumerate(comparators):
        pair = now[low], now[high]
        now[low], now[high] = variable(f"least {n}", 32), variable(f"greatest {n}", 32)
        choices |= {now[low]: Choice(True, pair), now[high]: Choice(False, pair)}
    return Network(choices, inputs, now[:first])


def joined(op, parts):
    """Returns a tree of operations on terms."""
    if len(parts) == 1:
        return parts[0]
    half = len(parts) // 2
    return bitwise(op, joined(op, parts[:half]), joined(op, parts[half:]))


class Sorting(unittest.TestCase):
    def test_a_sorting_network_is_one(self):
        network(4, BATCHER_4).expect_sorted()
        network(4, BATCHER_4, first=2).expect_sorted()

    def test_each_comparator_is_needed(self):
        for n in range(len(BATCHER_4)):
            with self.assertRaises(NotProved):
                network(4, BATCHER_4[:n] + BATCHER_4[n + 1:]).expect_sorted()

    def test_a_comparator_may_not_be_reversed(self):
        for n, (low, high) in enumerate(BATCHER_4):
            with self.assertRaises(NotProved):
                network(4, [*BATCHER_4[:n], (high, low), *BATCHER_4[n + 1:]]).expect_sorted()

    def test_a_word_may_not_be_stored_twice(self):
        terms.forget()
        a, b = variable("a", 32), variable("b", 32)
        least = variable("least", 32)
        with self.assertRaises(NotProved):
            Network({least: Choice(True, (a, b))}, [a, b], [least, least]).expect_sorted()

    def test_other_words_are_refused(self):
        terms.forget()
        a, b, other = (variable(name, 32) for name in ("a", "b", "other"))
        with self.assertRaises(NotProved):
            Network({variable("least", 32): Choice(True, (a, other))}, [a, b], [a, b])


class Gf3(unittest.TestCase):
    def setUp(self):
        terms.forget()
        self.elements = gf3.Elements()
        self.a, self.b = ((variable(f"{name}0", 8), variable(f"{name}1", 8)) for name in "ab")
        for n, pair in enumerate((self.a, self.b)):
            self.elements.know(*pair, {(n,): 1})

    def learned(self, nonzero, negative):
        self.elements.learn([nonzero, negative])
        return self.elements.form(nonzero, negative)

    def made(self, wrong_row=None):
        """Returns both bits of a sum as the disjunction of rows; one row may be another value."""
        rows = ([], [])
        for row in gf3.ROWS:
            value = (gf3.element(row & 3) + gf3.element(row >> 2) + (row == wrong_row)) % 3
            here = joined("and", [term if row >> n & 1 else bitwise("xor", term, const(-1, 8))
                                  for n, term in enumerate((*self.a, *self.b))])
            for bit, one in zip(rows, (value > 0, value == 2)):
                if one:
                    bit.append(here)
        return [joined("or", bit) for bit in rows]

    def test_sums_and_products(self):
        self.assertEqual(self.learned(*self.made()), {(0,): 1, (1,): 1})
        product = bitwise("and", self.a[0], self.b[0]), bitwise("xor", self.a[1], self.b[1])
        self.assertEqual(self.learned(*product), {(0, 1): 1})

    def test_each_row_counts(self):
        for row in gf3.ROWS:
            self.setUp()
            with self.assertRaises(NotProved):
                self.learned(*self.made(row))

    def test_a_sign_of_another_element_is_refused(self):
        nonzero = bitwise("and", self.a[0], self.b[0])
        with self.assertRaises(NotProved):
            self.learned(nonzero, self.a[1])

    def test_no_product_of_products(self):
        self.assertIsNone(gf3.product({(0, 1): 1}, {(2,): 1}))


class Inversion(unittest.TestCase):
    def test_steps_are_those_of_integers(self):
        """step() with all values of coefficients and masks."""
        for q, a, b, nonzero, negative, swap in itertools.product((2, 3), range(3), range(3), *[(0, 1)] * 3):
            if q == 2 and (a == 2 or b == 2 or negative):
                continue
            p, old = (ntru_inverse.Element(const(x == 1, 1), const(x == 2, 1)) for x in (a, b))
            masks = ntru_inverse.Masks(*(const(bit, 1) for bit in (nonzero, negative, swap)))
            scaled = -b % q if negative else b
            for sign in (1, -1):
                found = ntru_inverse.step(p, old, masks, q, sign)
                values = [element.one.value + 2 * element.two.value for element in found]
                self.assertEqual(values, [scaled if swap else a, sign * (scaled - nonzero * a) % q])

    def test_bits_of_another_item_are_refused(self):
        terms.forget()
        both = terms.alike(variable("x", 16), 2)
        self.assertIs(ntru_inverse.Bits(1).of(both, 16), terms.extract(variable("x", 16), 0, 0))
        with self.assertRaises(NotProved):
            ntru_inverse.Bits(0).of(both, 16)

    def test_carries_are_refused(self):
        terms.forget()
        terms.keep_sums_whole()
        with self.assertRaises(NotProved):
            ntru_inverse.Bits(0).of(terms.add(variable("x", 16), variable("y", 16)), 3)

    def test_all_inverses_are_found(self):
        for q, irreducible in ((2, False), (3, True)):  # x^3 + x + 1 divides Phi_7 mod 2
            polys, inverses = ntru_inverse.inverses(7, q)
            self.assertEqual(len(polys), q ** 6 - 1 if irreducible else 49)
            product = ntru_inverse.product(polys, inverses, 7, q)
            self.assertTrue((product == [1, 0, 0, 0, 0, 0]).all())


if __name__ == "__main__":
    unittest.main()
