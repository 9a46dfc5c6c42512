# SPDX-License-Identifier: Apache-2.0
"""Tests that what proofs of CKKS's sums and reductions use proves nothing false: the lemmas, and remainders of
divisions. `tools/prove.sh --self-test` runs them."""
import pathlib
import random
import sys
import unittest

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from proofs.algebra import terms  # noqa: E402
from proofs.algebra.evaluation import evaluate  # noqa: E402
from proofs.algebra.facts import NotProved  # noqa: E402
from proofs.algebra.terms import add, compare, concat, const, extract, ite, mul, sub, variable  # noqa: E402
from proofs.families import ckks_sums  # noqa: E402
from proofs.families.ckks_sums import Goal, once  # noqa: E402
from proofs.families.every_prime import upper  # noqa: E402
from proofs.machines.x86.machine import X86  # noqa: E402
from proofs_code import Code  # noqa: E402


class Lemmas(unittest.TestCase):
    def test_rests_by_barrett_for_all_words_of_few_bits(self):
        k = 6
        for q in range(3, 1 << k):
            for s in range(k):
                remainders = [x - ((x >> s) * ((1 << k + s) // q) >> k) * q for x in range(1 << k + s)]
                self.assertGreaterEqual(min(remainders), 0)
                if s == 0 or 1 << s <= q / 2:
                    self.assertLess(max(remainders), (2 if s == 0 else 3) * q)

    def test_rests_by_montgomery_for_all_words_of_few_bits(self):
        k = 5
        for q in range(3, 1 << k, 2):
            inverse = pow(q, -1, 1 << k)
            for x in range(q << k):
                result = (x >> k) - ((x * inverse % (1 << k)) * q >> k)
                self.assertTrue(-q < result < q and (result << k) % q == x % q)

    def test_upper_word_of_a_product_of_two_words_each(self):
        draw = random.Random(1)
        for _ in range(100):
            terms.forget()
            terms.keep_sums_whole()
            goal = Goal(variable("q", 16), 13)
            parts = {name: variable(name, 16) for name in ("x1", "x0", "c1", "c0")}
            found = ckks_sums.upper_word_of_two(goal, (parts["x1"], parts["x0"]), (parts["c1"], parts["c0"]))
            values = {name: draw.choice((0, 1, 0xFFFF, draw.getrandbits(16))) for name in parts}
            whole = {ckks_sums.product(parts[a], parts[b]): values[a] * values[b]
                     for a in ("x1", "x0") for b in ("c1", "c0")}
            known = {goal.instead[term]: np.array([value], dtype=np.uint64) for term, value in whole.items()}
            x, c = (values[n + "1"] << 16 | values[n + "0"] for n in "xc")
            self.assertEqual(int(evaluate(found, known)[0]), (x * c >> 32) & 0xFFFF)


class Instructions(unittest.TestCase):
    def test_sums_with_a_carry(self):
        for a, b, c, d in ((-1, 1, 5, 7), (-1, 0, 5, 7), (1 << 63, 1 << 63, -1, -1), (0, 0, -1, 1)):
            machine = X86(Code("4801d8 4811d1 c3"))  # add rax,rbx; adc rcx,rdx
            machine.general = [const(value, 64) for value in (a, c, d, b, *[0] * 12)]
            machine.call("f")
            carry = (a % (1 << 64) + b % (1 << 64)) >> 64
            self.assertEqual(machine.general[1].value, (c + d + carry) % (1 << 64))


class Remainders(unittest.TestCase):
    """Of words of 32 bits, after a division with the upper word of x c."""

    def setUp(self):
        terms.forget()
        terms.keep_sums_whole()
        self.q, self.c, self.x = (variable(name, 32) for name in "qcx")
        self.h = upper(self.x, self.c)
        self.remainder = sub(self.x, mul(self.h, self.q))

    def holds(self, found, expected, bound=2, x=None):
        """Returns whether a word is proved to be what is made of the remainder."""
        goal = Goal(self.q, 29)
        try:
            remainder = ckks_sums.device_remainder(goal, [found], self.c, x or self.x, x or self.x, bound)
            goal.expect(found, expected(remainder), "the word")
        except NotProved:
            return False
        return True

    def test_a_reduction(self):
        def reduced(remainder):
            return once(remainder, self.q)

        self.assertTrue(self.holds(reduced(self.remainder), reduced))
        self.assertTrue(self.holds(add(sub(sub(self.x, self.q), mul(self.h, self.q)), self.q), lambda r: r))
        self.assertFalse(self.holds(self.remainder, reduced))
        self.assertFalse(self.holds(reduced(self.remainder), lambda r: r))
        self.assertFalse(self.holds(once(self.remainder, add(self.q, const(1, 32))), reduced))

    def test_a_bound_that_is_too_small_is_not_made_up_for(self):
        self.assertFalse(self.holds(once(self.remainder, self.q), lambda r: once(once(r, add(self.q, self.q)), self.q),
                                    bound=3))
        self.assertTrue(self.holds(once(self.remainder, self.q), lambda r: once(once(r, add(self.q, self.q)), self.q)))
        self.assertFalse(self.holds(self.remainder, lambda r: r, bound=9))  # more bits than a word has

    def test_another_quotient(self):
        for quotient in (add(self.h, const(1, 32)), self.x, upper(self.x, add(self.c, const(1, 32))),
                         upper(add(self.x, const(1, 32)), self.c), mul(self.x, self.c)):
            self.assertFalse(self.holds(sub(self.x, mul(quotient, self.q)), lambda r: r), str(quotient))

    def test_another_difference(self):
        taken, one = mul(self.h, self.q), const(1, 32)
        for other in (sub(taken, self.x), add(self.x, taken), sub(add(self.x, one), taken), sub(self.c, taken),
                      sub(taken, sub(self.x, self.q)), add(sub(self.x, self.q), taken)):
            self.assertFalse(self.holds(other, lambda r: r), str(other))
        self.assertTrue(self.holds(sub(taken, self.x), lambda r: sub(const(0, 32), r)))
        self.assertTrue(self.holds(add(sub(self.q, self.x), taken), lambda r: sub(self.q, r)))
        self.assertFalse(self.holds(self.remainder, lambda r: r, x=extract(add(self.x, one), 31, 0)))


class Products(unittest.TestCase):
    def setUp(self):
        terms.forget()
        terms.keep_sums_whole()

    def test_sums_by_montgomery(self):
        names = ("q", "low", "high", "a0", "b0", "a1", "b1")
        words = {name: variable(name, 32) for name in names}
        q = words["q"]
        total = concat(words["high"], words["low"])
        for n in range(2):
            total = add(total, ckks_sums.product(words[f"a{n}"], words[f"b{n}"]))
        low, high = extract(total, 31, 0), extract(total, 63, 32)
        ckks_sums.fold_32(Goal(q, 31), words, [low, once(high, q)])
        for wrong in ([low, high], [add(low, const(1, 32)), once(high, q)], [low, sub(high, q)]):
            with self.assertRaises(NotProved):
                ckks_sums.fold_32(Goal(q, 31), words, wrong)

    def test_reductions_by_montgomery(self):
        words = {"q": variable("q", 32), "inverse": variable("inverse", 32), "x": variable("x", 64)}
        q, (high, low) = words["q"], (extract(words["x"], 63, 32), extract(words["x"], 31, 0))
        h = upper(mul(low, words["inverse"]), q)
        ckks_sums.montgomery_32(Goal(q, 31), words, [add(sub(high, h), ite(compare("ult", high, h), q, const(0, 32)))])
        for wrong in (sub(high, h), add(sub(high, h), q), sub(high, upper(mul(high, words["inverse"]), q)),
                      ite(compare("ult", high, h), add(sub(low, h), q), sub(high, h))):
            with self.assertRaises(NotProved):
                ckks_sums.montgomery_32(Goal(q, 31), words, [wrong])

    def test_a_product_of_bounded_words_is_not_taken_for_less(self):
        goal = Goal(variable("q", 16), 13)
        a, b = variable("a", 16), variable("b", 16)
        part = goal.stands_for(a, b)
        for bound, holds in ((0xFFFF ** 2 + 1, True), (0xFFFF ** 2, False)):
            self.assertEqual(goal.holds(compare("ult", part, const(bound, 32))), holds)
        self.assertTrue(goal.holds(compare("eq", mul(a, b), extract(part, 15, 0))))
        others = {goal.stands_for(*pair) for pair in ((a, b), (a, a), (b, b))}
        self.assertEqual(len(others), 3)
        self.assertFalse(goal.holds(const(0, 1)))


if __name__ == "__main__":
    unittest.main()
