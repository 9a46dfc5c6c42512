# SPDX-License-Identifier: Apache-2.0
"""Tests that products by Shoup's and Barrett's methods are proved where they are right and nowhere else: for a known
modulus by quotients.py, for every modulus by every_prime.py. `tools/prove.sh --self-test` runs it."""
import pathlib
import random
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from proofs.algebra import solver, terms  # noqa: E402
from proofs.algebra.facts import Fact, NotProved  # noqa: E402
from proofs.algebra.ranges import Facts  # noqa: E402
from proofs.algebra.terms import (add, compare, concat, const, extract, ite, mul, shift_left, sub,  # noqa: E402
                                  variable, zext)
from proofs.families import every_prime  # noqa: E402
from proofs.families.every_prime import Words, upper, upper_in_parts  # noqa: E402

Q = 8380417


def high(x, c):
    return extract(mul(zext(x, 64), const(c, 64)), 63, 32)


class Quotients(unittest.TestCase):
    """The remainder after a division, for a known modulus."""

    def setUp(self):
        terms.forget()
        terms.keep_sums_whole()
        self.facts, self.x, self.y = Facts(Q), variable("x", 32), variable("y", 32)
        self.facts.assume(self.x, 0, (1 << 32) - 1)
        self.facts.assume(self.y, 0, 2 * Q)

    def remainder(self, w, c, m=Q):
        return sub(mul(self.x, const(w, 32)), mul(high(self.x, c), const(m, 32)))

    def refused(self, term):
        self.assertIsNone(self.facts.quotients.fact(term))

    def shoup(self, w):
        return self.remainder(w, (w << 32) // Q)

    def test_shoup(self):
        for w in (1, 1753, Q - 1):
            fact = self.facts.fact(self.shoup(w))
            self.assertEqual(fact.form, {(0,): w})
            self.assertTrue(0 <= fact.low and fact.high < 2 * Q)

    def test_ranges_hold_and_are_not_too_wide(self):
        draw = random.Random(1)
        for _ in range(200):
            terms.forget()
            terms.keep_sums_whole()
            facts, x = Facts(Q), variable("x", 32)
            top = draw.randrange(1, 1 << draw.randrange(1, 33))
            bottom = draw.randrange(top)
            facts.assume(x, bottom, top)
            w, c = draw.randrange(Q), draw.randrange(1 << 32)
            if draw.random() < 0.7:
                c = min((w << 32) // Q + draw.randrange(-2, 3) & (1 << 32) - 1, (1 << 32) - 1)
            fact = facts.quotients.fact(sub(mul(x, const(w, 32)), mul(high(x, c), const(Q, 32))))
            if fact is None:
                continue
            values = [value * w - (value * c >> 32) * Q
                      for value in (bottom, top, *(draw.randint(bottom, top) for _ in range(50)))]
            shift = values[0] - fact.low >> 32 << 32  # the fact may be about another integer with the same bits
            shifts = {value - wrap for value in values for wrap in (0, shift, shift + (1 << 32))
                      if fact.low <= value - wrap <= fact.high and wrap % (1 << 32) == 0}
            self.assertGreaterEqual(len(shifts), len(set(values)), (bottom, top, w, c))

    def test_forms_are_of_the_integer_in_the_range(self):
        """Sums of a remainder, a word and a constant, of which many are beyond 2^32: the integer in the fact's range
        with the word's bits, and no other, is congruent to the form."""
        draw, beyond = random.Random(2), 0
        for _ in range(150):
            terms.forget()
            terms.keep_sums_whole()
            facts, x, y = Facts(Q), variable("x", 32), variable("y", 32)
            facts.assume(x, 0, (1 << 32) - 1)
            bottom = draw.choice((draw.randrange(1 << 32), (1 << 32) - draw.randrange(1, 4 * Q)))
            top = min(bottom + draw.randrange(1, 2 * Q), (1 << 32) - 1)
            facts.assume(y, bottom, top)
            w, constant = draw.randrange(Q), draw.randrange(4 * Q)
            remainder = sub(mul(x, const(w, 32)), mul(high(x, (w << 32) // Q), const(Q, 32)))
            fact = facts.quotients.fact(add(add(remainder, y), const(constant, 32)))
            if fact is None:
                continue
            beyond += bottom + constant >> 32 > 0
            for value in (0, (1 << 32) - 1, *(draw.randrange(1 << 32) for _ in range(10))):
                for other in (bottom, top):
                    word = value * w - (value * (w << 32) // Q >> 32) * Q + other + constant & (1 << 32) - 1
                    integer = fact.low + (word - fact.low & (1 << 32) - 1)
                    self.assertLessEqual(integer, fact.high)
                    form = sum(factor * {(0,): value, (1,): other, (): 1}[key] for key, factor in fact.form.items())
                    self.assertEqual((integer - form) % Q, 0, (bottom, top, w, constant))
        self.assertGreater(beyond, 15)

    def test_a_word_is_not_congruent_to_a_sum_beyond_its_width(self):
        facts, x, y = Facts(Q), self.x, variable("top", 32)
        facts.assume(x, 0, (1 << 32) - 1)
        facts.assume(y, (1 << 32) - Q, (1 << 32) - 1)
        quotient = mul(high(x, (1753 << 32) // Q), const(Q, 32))
        word = add(add(sub(mul(x, const(1753, 32)), quotient), y), const(Q, 32))
        fact = facts.as_unsigned(facts.fact(word), 32)
        self.assertTrue(fact.low == 0 and fact.high < 3 * Q)
        self.assertEqual(fact.form, {(0,): 1753, (1,): 1, (): -(1 << 32) % Q})
        with self.assertRaises(NotProved):
            facts.fact(zext(word, 64))

    def test_sums_with_others(self):
        fact = self.facts.fact(add(sub(self.y, self.shoup(1753)), const(2 * Q, 32)))
        self.assertEqual(fact.form, {(0,): Q - 1753, (1,): 1})
        self.assertTrue(0 < fact.low and fact.high <= 4 * Q)

    def test_order_of_additions_does_not_matter(self):
        quotient = mul(high(self.x, (1753 << 32) // Q), const(Q, 32))
        fact = self.facts.fact(sub(add(self.y, mul(self.x, const(1753, 32))), quotient))
        self.assertEqual(fact.form, {(0,): 1753, (1,): 1})

    def test_multiples_by_shifts(self):
        h = high(self.x, (1753 << 32) // Q)
        shifted = add(sub(shift_left(h, 23), shift_left(h, 13)), h)
        self.assertEqual(self.facts.fact(sub(mul(self.x, const(1753, 32)), shifted)),
                         self.facts.fact(self.shoup(1753)))

    def test_sums_that_may_overflow_are_refused(self):
        self.refused(sub(add(self.x, mul(self.x, const(1753, 32))), mul(high(self.x, (1753 << 32) // Q), const(Q, 32))))
        other = variable("z", 32)
        self.facts.assume(other, 0, (1 << 32) - 1)
        self.refused(add(self.shoup(1753), other))

    def test_multiples_of_others_are_refused(self):
        self.refused(self.remainder(1753, (1753 << 32) // Q, Q + 1))
        self.refused(self.remainder(1753, (1753 << 32) // Q, Q - 2))

    def test_quotients_of_other_words_are_refused(self):
        self.refused(sub(mul(self.x, const(1753, 32)), mul(high(self.y, (1753 << 32) // Q), const(Q, 32))))

    def test_parts_of_the_quotient_are_refused(self):
        h = high(self.x, (1753 << 32) // Q)
        self.refused(sub(mul(self.x, const(1753, 32)), mul(zext(extract(h, 7, 0), 32), const(Q, 32))))
        self.refused(sub(mul(self.x, const(1753, 32)), mul(concat(const(1, 8), extract(h, 23, 0)), const(Q, 32))))

    def test_words_that_are_negative_are_refused(self):
        facts, x = Facts(Q), variable("negative", 32)
        facts.assume(x, -5, 5)
        self.assertIsNone(facts.quotients.fact(sub(mul(x, const(3, 32)), mul(high(x, (3 << 32) // Q), const(Q, 32)))))

    def test_the_same_bits_as_an_unsigned_integer(self):
        unsigned = self.facts.as_unsigned
        self.assertEqual(unsigned(Fact(-3, -1, {(0,): 1}), 32),
                         Fact((1 << 32) - 3, (1 << 32) - 1, {(0,): 1, (): (1 << 32) % Q}))
        self.assertEqual(unsigned(Fact(4, 9, {}), 32), Fact(4, 9, {}))
        self.assertIsNone(unsigned(Fact(-1, 0, {}), 32))


class EveryPrime(unittest.TestCase):
    """Words modulo an unknown q."""

    def setUp(self):
        terms.forget()
        terms.keep_sums_whole()
        self.words = Words(*(variable(name, 32) for name in ("q", "y", "w", "c", "x")))

    def holds(self, found, formula, claimed, bounds=(0, 0), loss=1):
        try:
            every_prime.expect(self.words, found, formula, claimed, bounds, 31, 0, loss)
        except NotProved:
            return False
        return True

    def lazy(self, y=None, w=None, q=None, c=None):
        s = self.words
        return sub(mul(y or s.y, w or s.w), mul(upper(s.y, c or s.quotient), q or s.q))

    def test_products(self):
        XY = every_prime.XY
        self.assertTrue(self.holds([self.lazy()], lambda f, x, y, p: [p], [(2, XY)]))
        self.assertFalse(self.holds([self.lazy()], lambda f, x, y, p: [p], [(1, XY)]))
        self.assertFalse(self.holds([self.lazy(y=self.words.x)], lambda f, x, y, p: [p], [(2, XY)]))
        self.assertFalse(self.holds([self.lazy(w=self.words.x)], lambda f, x, y, p: [p], [(2, XY)]))
        self.assertFalse(self.holds([self.lazy(q=self.words.x)], lambda f, x, y, p: [p], [(2, XY)]))
        self.assertFalse(self.holds([self.lazy(c=self.words.x)], lambda f, x, y, p: [p], [(2, XY)]))
        self.assertFalse(self.holds([add(self.lazy(), const(1, 32))], lambda f, x, y, p: [p], [(2, XY)]))

    def test_a_quotient_in_parts_has_a_larger_bound(self):
        s = self.words
        found = sub(mul(s.y, s.w), mul(upper_in_parts(s.y, s.quotient), s.q))
        self.assertFalse(self.holds([found], lambda f, x, y, p: [p], [(2, every_prime.XY)]))
        # 4 q does not fit a word of 32 bits for q near 2^31.
        self.assertFalse(self.holds([found], lambda f, x, y, p: [p], [(4, every_prime.XY)], loss=3))

    def test_the_lemma_on_small_words(self):
        for bits in (4, 6):
            for q in range(3, 1 << bits - 2):
                for w in range(q):
                    c = (w << bits) // q
                    for x in range(1 << bits):
                        half, low = bits // 2, (1 << bits // 2) - 1
                        parts = (x >> half) * (c >> half) + ((x >> half) * (c & low) >> half) + (
                            (x & low) * (c >> half) >> half)
                        self.assertTrue(0 <= x * w - (x * c >> bits) * q < 2 * q)
                        self.assertTrue(0 <= x * w - parts * q < 4 * q)

    def test_formulas_keep_to_their_bounds(self):
        f = every_prime.Formulas(self.words.q, 31)
        x, any_word = f.word(self.words.x, 2, every_prime.X), f.word(self.words.y, 0, every_prime.Y)
        self.assertEqual(f.once(x, 1).bound, 1)
        for wrong in (lambda: f.once(any_word, 1), lambda: f.plus(x, x), lambda: f.minus(x, any_word, 1),
                      lambda: f.minus(x, x, 1), lambda: f.plus(any_word, x),
                      lambda: f.once(f.word(x.term, 3, x.form), 1)):
            with self.assertRaises(NotProved):
                wrong()

    def test_reductions(self):
        s = self.words
        less = ite(compare("ult", s.y, s.q), s.y, sub(s.y, s.q))
        wrong = ite(compare("ult", s.q, s.y), sub(s.y, s.q), s.y)  # leaves q
        once = [lambda f, x, y, p: [f.once(y, 1)], [(1, every_prime.Y)], (0, 2)]
        self.assertTrue(self.holds([less], *once))
        self.assertFalse(self.holds([wrong], *once))

    def test_replaced_terms(self):
        a, b, c = variable("a", 8), variable("b", 8), variable("c", 8)
        self.assertTrue(solver.equal(add(mul(a, b), c), add(c, mul(a, b)), {mul(a, b): variable("ab", 8)}))
        self.assertFalse(solver.equal(mul(a, const(2, 8)), add(a, a), {mul(a, const(2, 8)): variable("d", 8)})
                         and mul(a, const(2, 8)) is not add(a, a))
        self.assertFalse(solver.equal(mul(a, b), mul(a, c), {mul(a, b): b}))


if __name__ == "__main__":
    unittest.main()
