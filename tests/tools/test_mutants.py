# SPDX-License-Identifier: Apache-2.0
"""Tests that the faults of tools/mutants.py, which runs in test-full only, still fit the sources."""
import pathlib
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import mutants  # noqa: E402


class Mutants(unittest.TestCase):
    def test_each_fits_its_source_once(self):
        for mutant in mutants.MUTANTS:
            with self.subTest(mutant.name):
                self.assertEqual((mutants.ROOT / mutant.file).read_text().count(mutant.text), 1)
                self.assertNotEqual(mutant.text, mutant.replacement)
