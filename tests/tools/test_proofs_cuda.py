# SPDX-License-Identifier: Apache-2.0
"""Tests that what cuda_records.py and cuda_ntru.py of tools/proofs/families add to the checks of results accepts
nothing false. `tools/prove.sh --self-test` runs it."""
import pathlib
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from proofs.algebra import terms  # noqa: E402
from proofs.algebra.facts import NotProved  # noqa: E402
from proofs.algebra.terms import add, bitwise, const, extract, mul, sub, zext  # noqa: E402
from proofs.claims import Run  # noqa: E402
from proofs.families import cuda_ntru, cuda_records  # noqa: E402
from proofs.machines.memory import value_of  # noqa: E402
from proofs_code import Code  # noqa: E402


class Records(unittest.TestCase):
    def setUp(self):
        terms.forget()
        self.run_of, self.known = Run(Code("c3"), 3), set()

    def accepts(self, term, sources, expected):
        try:
            cuda_records.expect_alike(self.run_of, term, sources, expected, self.known, "a result")
        except NotProved:
            return False
        return True

    def test_results_that_are_alike_are_looked_at_once_and_others_are_not_taken_for_them(self):
        a, b, c, d = self.run_of.fields("a", 4, 8).words
        twice = lambda x: mul(x, const(2, 8))  # noqa: E731
        self.assertTrue(self.accepts(twice(a), [a, b], add(a, a)))
        self.assertEqual(len(self.known), 1)
        self.assertTrue(self.accepts(twice(c), [c, d], add(c, c)))
        self.assertEqual(len(self.known), 1)
        self.assertFalse(self.accepts(twice(c), [c, d], add(d, d)))
        self.assertFalse(self.accepts(twice(d), [c, d], add(c, c)))
        self.assertFalse(self.accepts(twice(a), [a, b], add(a, const(1, 8))))
        self.assertEqual(len(self.known), 1)

    def test_results_of_other_words_are_refused(self):
        a, b = self.run_of.fields("a", 2, 8).words
        self.assertFalse(self.accepts(sub(add(a, b), b), [a], a))
        self.assertFalse(self.accepts(a, [a], add(a, bitwise("and", b, const(0x80, 8)))))

    def test_two_bits_are_never_three(self):
        bits = cuda_ntru.trit_bits(self.run_of, 2)
        sources = cuda_ntru.leaves(bits)
        self.assertEqual(len(sources), 4)
        for low, high in (bits[:2], bits[2:]):
            self.assertTrue(self.accepts(bitwise("and", low, high), sources, const(0, 1)))
            self.assertFalse(self.accepts(high, sources, const(0, 1)))

    def test_a_record_has_its_fields_in_order_at_each_alignment(self):
        for skip in cuda_records.ALIGNMENTS:
            run = Run(Code("c3"), 3)
            address, fields = cuda_records.record(run, 5, 6, skip)
            self.assertEqual(address % 4, skip)
            for n, field in enumerate(fields.words):
                self.assertIs(run.field(address, n, 6), field)
            # What follows the last field, or stands before the first one, is unknown.
            last = value_of(run.machine.memory.load(address + 3, 1))
            for beside in (extract(last, 7, 6), value_of(run.machine.memory.load(address + 4, 1))):
                self.assertIsNone(beside.value)

    def test_sums_of_bits_are_not_cut(self):
        bits = self.run_of.fields("b", 9, 1).words
        total = cuda_records.sum_of(bits, 4)
        self.assertTrue(self.accepts(total, bits, extract(cuda_records.sum_of(bits, 8), 3, 0)))
        self.assertFalse(self.accepts(zext(extract(total, 2, 0), 4), bits, total))


if __name__ == "__main__":
    unittest.main()
