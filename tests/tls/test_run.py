# SPDX-License-Identifier: Apache-2.0
"""Tests run.py's exit code if tests are skipped."""

import unittest

import run


class Example(unittest.TestCase):
    def missing(self):
        self.skipTest("no such program")

    def works(self):
        pass

    def missing_in_part(self):
        for kind in ("a", "b"):
            with self.subTest(kind):
                self.assertNotEqual(kind, "c")
                if kind == "a":
                    self.skipTest("no a")

    def wrong(self):
        self.fail("wrong")


class ExitCode(unittest.TestCase):
    def code(self, *names, everything=False):
        result = unittest.TestResult()
        unittest.TestSuite(map(Example, names)).run(result)
        return run.exit_code(result, everything)

    def test_nothing_skipped(self):
        self.assertEqual(self.code("works", everything=True), 0)

    def test_all_skipped(self):
        self.assertEqual(self.code("missing"), run.SKIPPED)
        self.assertEqual(self.code("missing", "wrong"), 1)

    def test_something_skipped(self):
        self.assertEqual(self.code("missing", "works"), 0)
        self.assertEqual(self.code("missing_in_part"), 0)

    def test_nothing_may_be_skipped(self):
        self.assertEqual(self.code("missing", "works", everything=True), 1)
        self.assertEqual(self.code("missing_in_part", everything=True), 1)


if __name__ == "__main__":
    unittest.main()
