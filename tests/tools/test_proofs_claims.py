# SPDX-License-Identifier: Apache-2.0
"""Tests that claims about a run's results refuse other results. `tools/prove.sh --self-test` runs them."""
import pathlib
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from proofs import claims  # noqa: E402
from proofs.algebra import bilinear, terms  # noqa: E402
from proofs.algebra.facts import NotProved, OtherRange, OtherResult  # noqa: E402
from proofs.algebra.terms import (add, bitwise, compare, concat, const, extract, ite, mul, sub, variable,  # noqa: E402
                                  zext)
from proofs.families import cortex_m4, mlkem, ntru  # noqa: E402
from proofs.machines.memory import STACK, NotRestored  # noqa: E402
from proofs_code import Code  # noqa: E402

Q = 3329


class Claims(unittest.TestCase):
    def setUp(self):
        terms.forget()
        self.run_ = claims.Run(Code("c3"), Q)
        self.a = self.run_.unknown("a", 2, 0, 4095)
        self.total = add(self.a.words[0], mul(self.a.words[1], const(2, 16)))

    def test_results(self):
        self.run_.expect(self.total, {(0,): 1, (1,): 2}, 0, 3 * 4095, "it")
        for form in ({(0,): 1, (1,): 3}, {(0,): 1}, {(0,): 1, (1,): 2, (): 1}, {(0,): 1, (1,): 2, (): 0}, {}):
            with self.assertRaises(OtherResult):
                self.run_.expect(self.total, form, 0, 3 * 4095, "it")
        for low, high in ((1, 3 * 4095), (0, 3 * 4095 - 1)):
            with self.assertRaises(OtherRange):
                self.run_.expect(self.total, {(0,): 1, (1,): 2}, low, high, "it")

    def test_nothing_is_written_beside_the_results(self):
        code = Code("48c70700000000c3")  # mov qword ptr [rdi], 0
        for size, disregarded, at in ((8, 0, 0), (4, 4, 0), (4, 4, 1)):
            claims.Run.begin_claim()
            run = claims.Run(code, Q)
            address = run.space()
            run.disregard(address + size + at, disregarded)
            run.machine.call("f", address)
            with self.assertRaises(OtherResult):
                claims.Run.end_claim()
            run.result(address, 0, 8 * size)
            if at == 0:
                claims.Run.end_claim()
            claims.Run(code, Q)
            if at == 1:
                with self.assertRaisesRegex(OtherResult, f"1 bytes .* byte {size} of array 1"):
                    claims.Run.end_claim()

    def test_nothing_is_written_to_other_frames_or_to_the_library(self):
        # mov qword ptr [rsp - 8], 0 into the own frame; to [rsp + 8] and [rip + 0] elsewhere
        for code, at in (("48c74424f800000000c3", None), ("48c744240800000000c3", STACK),
                         ("48c7050000000000000000c3", 0x1000b)):
            claims.Run.begin_claim()
            claims.Run(Code(code), Q).machine.call("f")
            if at is None:
                claims.Run.end_claim()
            else:
                with self.assertRaisesRegex(OtherResult, f"8 bytes .* outside the arrays, the first at {at:#x}"):
                    claims.Run.end_claim()

    def test_registers_are_restored(self):
        claims.Run(Code("53" "31db" "5bc3"), Q).machine.call("f")  # push rbx; xor ebx, ebx; pop rbx; ret
        with self.assertRaises(NotRestored):
            claims.Run(Code("31dbc3"), Q).machine.call("f")

    def test_faults_are_planted_in_all_runs_of_a_claim(self):
        claims.Run.begin_claim()
        for code in ("c3", "90c3", "909090c3"):
            claims.Run(Code(code), Q).machine.call("f")
        ran = claims.Run.ran()
        self.assertEqual(ran.executed, {Code.START + n for n in range(4)})
        self.assertEqual((ran.steps, ran.longest), (7, 4))
        self.assertEqual(claims.Run.ran().steps, 7)
        claims.Run.begin_claim()
        self.assertEqual(claims.Run.ran().executed, set())

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
            cortex_m4.expect_of_pairs(term, x, b, f, known, "it")

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
        a, b = run.unknown("a", 2, *claims.ANY_WORD), run.unknown("b", 2, *claims.ANY_WORD)
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


if __name__ == "__main__":
    unittest.main()
