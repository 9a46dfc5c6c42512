# SPDX-License-Identifier: Apache-2.0
"""Tests that what proofs of NTRU's steps use proves nothing false: terms that are written in another way, causes of
failures, sums that are counted, lifts. `tools/prove.sh --self-test` runs them."""
import pathlib
import random
import sys
import unittest

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from proofs import claims  # noqa: E402
from proofs.algebra import decisions, rewriting, solver, terms  # noqa: E402
from proofs.algebra.evaluation import evaluate  # noqa: E402
from proofs.algebra.facts import NotProved  # noqa: E402
from proofs.algebra.terms import (add, alike, bitwise, compare, concat, const, extract, ite, mul, sext,  # noqa: E402
                                  sub, variable, zext)
from proofs.families import acceptance, ntru_failures, ntru_lift, selection  # noqa: E402
from proofs.machines import memory  # noqa: E402
from proofs.machines.x86 import general  # noqa: E402
from proofs.machines.x86.lanes import flatten  # noqa: E402
from proofs.machines.x86.logic import ternary_of  # noqa: E402
from proofs.machines.x86.machine import X86  # noqa: E402
from proofs.machines.x86.masks import compressed  # noqa: E402
from proofs_code import Code  # noqa: E402


def drawn_term(draw, variables, depth):
    """Returns a term of 16 bits."""
    if depth == 0 or draw.random() < 0.1:
        return draw.choice((*variables, const(draw.choice((0, 1, 3, draw.getrandbits(16))), 16)))
    a, b, c = (drawn_term(draw, variables, depth - 1) for _ in range(3))
    return draw.choice((
        lambda: add(a, b), lambda: sub(a, b), lambda: add(a, sub(b, c)), lambda: sub(add(a, b), mul(c, const(3, 16))),
        lambda: mul(a, b), lambda: zext(extract(a, 11, 4), 16), lambda: sext(extract(add(a, b), 7, 0), 16),
        lambda: extract(mul(zext(a, 32), const(21846, 32)), 31, 16), lambda: bitwise("xor", a, b),
        lambda: bitwise("or", a, b), lambda: ite(compare("ult", a, b), a, c), lambda: concat(extract(a, 7, 0),
                                                                                            extract(sub(b, c), 7, 0)),
        lambda: sub(const(0, 16), a), lambda: sext(compare("eq", a, const(0, 16)), 16)))()


class Rewriting(unittest.TestCase):
    def setUp(self):
        terms.forget()

    def test_drawn_terms_stay_equal(self):
        draw = random.Random(1)
        for n in range(300):
            terms.forget()
            if n % 2:
                terms.keep_sums_whole()
            variables = [variable(name, 16) for name in "xyz"]
            term = drawn_term(draw, variables, 4)
            known = {x: np.array([0, 1, 0xFFFF, *(draw.getrandbits(16) for _ in range(200))], dtype=np.uint64)
                     for x in variables}
            for other in (rewriting.Grouped().of(term), rewriting.Lowest().of(term)):
                self.assertTrue(np.all(evaluate(other, known) == evaluate(term, known)), str(term))

    def test_what_depends_on_one_word_comes_together(self):
        terms.keep_sums_whole()
        x, y = variable("x", 16), variable("y", 16)
        third = extract(mul(zext(x, 32), const(21846, 32)), 31, 16)
        mixed = rewriting.Grouped().of(sub(add(y, x), mul(third, const(3, 16))))
        self.assertIn(sub(x, mul(third, const(3, 16))), mixed.args)

    def test_lowest_bits(self):
        terms.keep_sums_whole()
        x, above = variable("x", 11), variable("above", 5)
        low = rewriting.Lowest().of(extract(add(concat(above, x), const(1, 16)), 10, 3))
        self.assertIsNotNone(terms.shape(low, [x]))

    def test_a_lane_is_of_one_item(self):
        x = variable("x", 16)
        row = alike(x, 4)
        lane = rewriting.Lane(2)
        self.assertIs(lane.of(add(extract(row, 47, 32), const(1, 16))), add(x, const(1, 16)))
        self.assertIs(lane.of(extract(row, 39, 34)), extract(x, 7, 2))
        for other in (extract(row, 31, 16), extract(row, 40, 24), add(extract(row, 47, 32), extract(row, 15, 0)),
                      add(extract(row, 47, 32), x), extract(add(row, const(1, 64)), 47, 32)):
            with self.assertRaises(NotProved):
                rewriting.Lane(2).of(other)

    def test_lanes_that_are_in_order_again(self):
        m = X86(Code("c3"))
        row = alike(variable("x", 16), 4)
        lanes = [extract(row, 16 * n + 15, 16 * n) for n in range(4)]
        self.assertIs(m.lane_of(flatten(lanes), 16), row.args[0])
        for others in ([lanes[n] for n in (0, 2, 1, 3)], [lanes[0]] * 4):
            self.assertIsNone(m.lane_of(flatten(others), 16))
        self.assertIsNone(m.lane_of(flatten(lanes), 8))

    def test_the_solver_knows_nothing_of_all_items(self):
        x = variable("x", 16)
        with self.assertRaises(NotProved):
            solver.equal(extract(alike(x, 2), 15, 0), x)


def sign_of_either(word):
    """Returns the sign of word | -word."""
    top = word.width - 1
    return extract(bitwise("or", word, sub(const(0, word.width), word)), top, top)


class Causes(unittest.TestCase):
    def setUp(self):
        terms.forget()

    def test_drawn_terms(self):
        """A term is not zero if and only if one of its causes is not."""
        draw = random.Random(2)
        for _ in range(400):
            terms.forget()
            variables = [variable(name, 16) for name in "xyz"]
            term = drawn_term(draw, variables, 3)
            sign = sign_of_either(term)
            joined = concat(compare("ult", term, variables[0]), extract(term, 6, 0))
            larger = ite(compare("ult", term, variables[0]), variables[0], term)
            for whole in (term, sext(sign, 32), sign_of_either(joined),
                          sub(const(0, 16), zext(compare("ult", const(2, 16), larger), 16)),
                          terms.negate(compare("eq", term, const(0, 16))), ite(sign, const(0, 8), const(1, 8)),
                          extract(sub(const(0, 32), zext(term, 32)), 31, 31),
                          extract(bitwise("or", term, larger), 9, 2),
                          *(extract(sub(const(0, 16), zext(extract(term, top, 0), 16)), 12, 5) for top in (0, 1)),
                          *(terms.negate(extract(bitwise("xor", term, const(1 << 9, 16)), at, at)) for at in (8, 9)),
                          terms.negate(ite(sign, const(1, 1), const(0, 1))), terms.negate(terms.negate(sign)),
                          compare("slt", term, const(0, 16)),
                          terms.negate(ite(compare("slt", term, const(0, 16)), const(1, 1), const(0, 1)))):
                values = [0, 1, 2, 3, 0x8000, 0xFFFF]
                known = {x: np.array([draw.choice((*values, draw.getrandbits(16))) for _ in range(300)],
                                     dtype=np.uint64) for x in variables}
                found = [evaluate(cause, known) != 0 for cause in decisions.causes(whole)]
                any_of_them = np.any(np.broadcast_arrays(np.zeros(300, dtype=bool), *found), axis=0)
                self.assertTrue(np.all(any_of_them == (evaluate(whole, known) != 0)), str(whole))

    def test_what_they_are(self):
        x, y = variable("x", 16), variable("y", 16)
        mask = sext(sign_of_either(x), 32)
        self.assertEqual(decisions.causes(bitwise("or", mask, zext(y, 32))), {x, y})
        self.assertEqual(decisions.causes(const(0, 16)), set())
        lanes = [compare("ult", const(2, 16), word) for word in (x, y)]
        for noted in (concat(*lanes), concat(const(0, 30), *lanes)):
            self.assertEqual(decisions.causes(sign_of_either(noted)), set(lanes))
        bit = compare("ult", x, y)
        self.assertEqual(decisions.causes(extract(sub(const(0, 16), zext(bit, 16)), 12, 5)), {bit})
        inverted = extract(bitwise("xor", add(x, y), const(1 << 9, 16)), 9, 9)
        self.assertEqual(decisions.causes(terms.negate(inverted)), {extract(add(x, y), 9, 9)})
        negative = compare("slt", add(x, y), const(0, 16))
        self.assertEqual(decisions.causes(terms.negate(ite(terms.negate(negative), const(1, 1), const(0, 1)))),
                         {extract(add(x, y), 15, 15)})
        smallest = ite(bit, x, y)
        term = compare("ult", const(2, 16), smallest)
        self.assertEqual(decisions.causes(term), {term})

    def test_what_was_noted_before(self):
        x, before = variable("x", 8), variable("before", 8)
        self.assertIs(ntru_failures.without(bitwise("or", before, x), before), x)
        for other in (x, bitwise("and", before, x), bitwise("xor", before, x)):
            with self.assertRaises(NotProved):
                ntru_failures.without(other, before)


class Steps(unittest.TestCase):
    def setUp(self):
        terms.forget()
        terms.keep_sums_whole()
        self.run_ = claims.Run(Code("c3"), 3)
        self.trits = [variable(f"m[{i}]", 2) for i in range(5)]
        for trit in self.trits:
            self.run_.facts.assume(trit, 0, 2)

    def test_counted_trits(self):
        ones = twos = const(0, 16)
        for trit in self.trits:
            ones = add(ones, zext(extract(trit, 0, 0), 16))
            twos = add(twos, zext(compare("eq", trit, const(2, 2)), 16))
        self.assertEqual(ntru_failures.counted(ones, self.trits), 1)
        self.assertEqual(ntru_failures.counted(twos, self.trits), 2)
        first = zext(extract(self.trits[0], 0, 0), 16)
        for wrong in (add(ones, first), sub(ones, first), add(ones, twos), add(ones, const(1, 16)),
                      zext(extract(ones, 1, 0), 16)):
            with self.assertRaises(NotProved):
                ntru_failures.counted(wrong, self.trits)

    def test_weights(self):
        ones = twos = const(0, 16)
        for trit in self.trits:
            ones = add(ones, zext(extract(trit, 0, 0), 16))
            twos = add(twos, zext(extract(trit, 1, 1), 16))
        both = [bitwise("xor", total, const(2, 16)) for total in (ones, twos)]
        ntru_failures.expect_weights(both, self.trits, 2)
        for wrong in (both[:1], [both[0]] * 2, [], [*both, self.trits[0]],
                      [both[0], extract(both[1], 1, 0)], [both[0], bitwise("xor", twos, const(3, 16))]):
            with self.assertRaises(NotProved):
                ntru_failures.expect_weights(wrong, self.trits, 2)

    def test_weights_whose_bits_are_compared_in_parts(self):
        ones = twos = const(0, 16)
        for trit in self.trits:
            ones = add(ones, zext(extract(trit, 0, 0), 16))
            twos = add(twos, zext(extract(trit, 1, 1), 16))
        for weight in range(8):
            low, middle, high = (bitwise("xor", extract(twos, bit, bit), const(weight >> bit, 1)) for bit in range(3))
            above = bitwise("xor", extract(twos, 2, 1), const(weight >> 1, 2))
            first = bitwise("xor", ones, const(weight, 16))
            for right in ([low, middle, high], [low, above], [extract(bitwise("xor", twos, const(weight, 16)), 2, 0)]):
                ntru_failures.expect_weights([first, *right], self.trits, weight)
            wrong = bitwise("xor", middle, const(1, 1))
            for parts in ([low, middle], [low, high], [low, wrong, high], [low, middle, wrong, high], [above]):
                with self.assertRaises(NotProved):
                    ntru_failures.expect_weights([first, *parts], self.trits, weight)
        with self.assertRaises(NotProved):  # five trits never have that weight
            ntru_failures.expect_weights([bitwise("xor", extract(total, 2, 0), const(3, 3)) for total in (ones, twos)],
                                      self.trits, 11)

    def test_failures(self):
        residue = variable("z", 4)
        self.run_.facts.assume(residue, 0, 15)
        shifted = add(residue, const(1, 4))
        right = [compare("ult", const(2, 4), shifted)]
        ntru_failures.expect_failure({cause: cause for cause in right}, [residue], [], 0)
        for wrong in ([], [compare("ult", const(3, 4), shifted)], [compare("ult", const(1, 4), shifted)],
                      [*right, self.trits[0]]):
            with self.assertRaises(NotProved):
                ntru_failures.expect_failure({cause: cause for cause in wrong}, [residue], [], 0)

    def lift(self, divides, change=lambda i, word: word):
        """Calls expect_lift with Lift(m) for n = 5, or with that where one coefficient is changed."""
        terms.forget()
        terms.keep_sums_whole()
        run = claims.Run(Code("c3"), 3)
        m = [variable(f"m[{i}]", 2) for i in range(4)] + [const(0, 2)]
        before = [variable(f"z[{i}]", 16) for i in range(5)]
        for trit in m[:-1]:
            run.facts.assume(trit, 0, 2)
        v = [zext(trit, 16) for trit in m]
        if divides:
            total = v[0]
            for word in v[1:4]:
                total = add(total, word)
            t, sums, quotient = self.mod3(total), const(0, 16), []
            for word in v:
                sums = add(sums, add(word, t))
                quotient.append(self.mod3(add(sums, sums)))
            v = quotient
        v = [sub(word, mul(zext(extract(word, 1, 1), 16), const(3, 16))) for word in v]
        lift = [sub(v[i - 1], v[i]) for i in range(5)] if divides else v
        after = [change(i, add(word, part)) for i, (word, part) in enumerate(zip(before, lift))]
        ntru_lift.expect_lift(run, m, before, after, 1, divides)

    @staticmethod
    def mod3(x):
        return sub(x, mul(extract(mul(zext(x, 32), const(21846, 32)), 31, 16), const(3, 16)))

    def test_lifts(self):
        for divides in (False, True):
            self.lift(divides)
            for wrong in (lambda i, word: add(word, const(i == 3, 16)), lambda i, word: variable("z[0]", 16),
                          lambda i, word: sub(word, variable("z[1]", 16)) if i == 1 else word,
                          lambda i, word: add(word, zext(variable("m[0]", 2), 16)) if i == 2 else word):
                with self.assertRaises(NotProved):
                    self.lift(divides, wrong)


class Acceptance(unittest.TestCase):
    def setUp(self):
        terms.forget()

    def test_decisions(self):
        x, y, z = variable("x", 4), variable("y", 4), variable("z", 4)
        bit = compare("ult", z, const(3, 4))
        under = acceptance.Decisions({bit: 1}, {x: np.arange(9), y: np.arange(9, 16)}).under
        bits = compare("ult", x, const(9, 4)), compare("ult", y, const(9, 4)), bit
        counted = add(add(zext(bits[0], 8), zext(bits[1], 8)), zext(bits[2], 8))
        self.assertEqual(under(counted).value, 2)
        for other in (compare("ult", x, const(8, 4)), compare("ult", z, const(4, 4)), compare("ult", x, y), x):
            self.assertIsNone(under(other).value)

    def test_drawn_decisions(self):
        """A term under decisions is equal for all values that they allow."""
        draw = random.Random(3)
        for _ in range(100):
            terms.forget()
            variables = [variable(name, 16) for name in "xyz"]
            possible = {variables[0]: np.array(sorted(draw.sample(range(1 << 16), 5)))}
            bit = compare("ult", variables[1], const(0x8000, 16))
            term = drawn_term(draw, variables, 4)
            whole = ite(bit, term, bitwise("xor", term, sext(compare("ult", variables[0], const(99, 16)), 16)))
            known = {x: np.array([draw.getrandbits(16) for _ in range(200)], dtype=np.uint64) for x in variables}
            known[variables[0]] = np.array([draw.choice(possible[variables[0]]) for _ in range(200)], dtype=np.uint64)
            known[variables[1]] &= np.uint64(0x7FFF)
            other = acceptance.Decisions({bit: 1}, possible).under(whole)
            self.assertTrue(np.all(evaluate(other, known) == evaluate(whole, known)))

    def test_comparisons(self):
        forms = acceptance.below(variable("c", 12), 3329, 16)
        values = np.arange(1 << 12)
        for form in forms:
            bits = evaluate(form, {variable("c", 12): values.astype(np.uint64)})
            self.assertEqual(bits.astype(int).tolist(), (values < 3329).tolist())
        with self.assertRaises(NotProved):
            acceptance.below(variable("d", 16), 3329, 16)

    def test_compressed_lanes(self):
        lanes = [const(10 + n, 8) for n in range(4)]
        for chosen in range(16):
            bits = [const(chosen >> n & 1, 1) for n in range(4)]
            taken = [10 + n for n in range(4) if chosen >> n & 1]
            self.assertEqual([lane.value for lane in compressed(lanes, bits)], taken + [0] * (4 - len(taken)))

    def test_bits_that_are_moved(self):
        m = X86(Code("c4e27bf5cb c4e27af5d3 c3"))  # pdep ecx,eax,ebx; pext edx,eax,ebx
        m.general[0], m.general[3] = const(0b1011, 64), const(0b1101_0010, 64)
        m.call("f")
        self.assertEqual((m.general[1].value, m.general[2].value), (0b1001_0010, 0b1))

    def test_masks_of_differences(self):
        a, b = ([variable(f"{name}{n}", 8) for n in range(3)] for name in "ab")
        pairs = [bitwise("xor", x, y) for x, y in zip(a, b)]
        whole = bitwise("or", pairs[0], bitwise("or", pairs[1], pairs[2]))
        wide = zext(whole, 32)
        mask = sub(const(0, 32), zext(extract(bitwise("or", wide, sub(const(0, 32), wide)), 31, 31), 32))
        selection.expect_mask(mask, set(pairs))
        for wrong, differences in ((mask, set(pairs[:2])),
                                   (sub(const(0, 32), zext(extract(whole, 0, 0), 32)), set(pairs)),
                                   (add(mask, const(1, 32)), set(pairs)), (mask, {*pairs, a[0]})):
            with self.assertRaises(NotProved):
                selection.expect_mask(wrong, differences)


class Words(unittest.TestCase):
    def setUp(self):
        terms.forget()

    def test_tables_of_three_operands(self):
        a, b, c = (variable(name, 8) for name in "abc")
        known = {x: np.array([value], dtype=np.uint64) for x, value in ((a, 0xF0), (b, 0xCC), (c, 0xAA))}
        for table in range(256):
            self.assertEqual(evaluate(ternary_of(table, a, b, c), known).item(), table)

    def test_unknown_shifts(self):
        count = variable("count", 5)
        for shift in (terms.shift_left, terms.shift_right, terms.shift_right_signed):
            word = general._shifted(shift, const(0x81234567, 32), count)
            values = evaluate(word, {count: np.arange(32, dtype=np.uint64)}).tolist()
            self.assertEqual(values, [shift(const(0x81234567, 32), n).value for n in range(32)])

    def test_flags_are_not_known_after_an_unknown_shift(self):
        m = X86(Code("4839d8 d3e0 0f94c0 c3"))  # cmp rax,rbx; shl eax,cl; sete al
        m.general[1] = variable("count", 64)
        with self.assertRaises(memory.NotFollowed):
            m.call("f")


if __name__ == "__main__":
    unittest.main()
