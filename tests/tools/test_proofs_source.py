# SPDX-License-Identifier: Apache-2.0
"""Tests of the faults that tools/proofs/source_faults.py draws."""

import random
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
from proofs import source_faults  # noqa: E402


class Changes(unittest.TestCase):
    def changes_of(self, text):
        return {source_faults.changed(text, random.Random(seed)) for seed in range(64)}

    def test_one_operation_of_a_line(self):
        self.assertEqual(self.changes_of("  x = a + (b >> n) * c;  // a + b\n"), {
            "  x = a - (b >> n) * c;  // a + b\n", "  x = a + (b >> 1 + n) * c;  // a + b\n",
            "  x = a + (b >> n) + c;  // a + b\n"})

    def test_intrinsics(self):
        self.assertEqual(self.changes_of("return _mm256_add_epi16(a, b);"), {"return _mm256_sub_epi16(a, b);"})

    def test_lines_without_arithmetic(self):
        for text in ("for (size_t n = a + b; n < c; ++n)", "// a + b", "#if A + B", "return x;",
                     "static_assert(a + b == c);"):
            self.assertEqual(self.changes_of(text), {None}, text)


if __name__ == "__main__":
    unittest.main()
