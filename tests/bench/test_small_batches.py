# SPDX-License-Identifier: Apache-2.0
"""Tests that polykem_bench_small_batches prints rows in the form of src/tuning/small_batches.hpp."""

import os
import re
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SETS = ("mlkem768", "saber", "ntruhps2048509")
ROW = re.compile(r"    \{\.cpu = Cpu::(?P<cpu>\w+), (\.k = (?P<k>[2-4]), )?"
                 r"\.own_keys = \{\d+, \d+, \d+\},\n"
                 r"     \.expanded_keys = \{\d+, \d+\}, \.shared_key = \{\d+, \d+\}"
                 r"(, \.hashes_together = \d)?\},\n")


def run(*words):
    return subprocess.run([os.environ["POLYKEM_BENCH_SMALL_BATCHES"], *words], capture_output=True, text=True,
                          timeout=60, check=False)


class SmallBatches(unittest.TestCase):
    def test_prints_a_row_for_each_set(self):
        done = run("--quick", *SETS)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        rest = done.stdout
        for name in SETS:
            head = f"    // {name}\n"
            self.assertTrue(rest.startswith(head), rest)
            row = ROW.match(rest, len(head))
            self.assertIsNotNone(row, rest)
            self.assertEqual(row["k"], "3" if name == "mlkem768" else None)
            rest = rest[row.end():]
        self.assertEqual(rest, "")

    def test_the_table_has_no_other_rows(self):
        table = (ROOT / "src/tuning/small_batches.hpp").read_text(encoding="utf-8")
        self.assertEqual(len(ROW.findall(table)), table.count("{.cpu ="))
        self.assertGreater(table.count("{.cpu ="), 0)

    def test_names_a_set_without_a_choice(self):
        for name, reason in (("mlkem769", "no such parameter set"), ("lac128", "has a choice to make")):
            done = run("--quick", name)
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"{name}: ", done.stderr)
            self.assertIn(reason, done.stderr)


if __name__ == "__main__":
    unittest.main()
