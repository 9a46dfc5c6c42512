# SPDX-License-Identifier: Apache-2.0
"""Runs tests of unittest for CTest: `run.py NAME...`. Lists skipped tests at the end. Ends with 77 if all were skipped,
and with 1 if any was although POLYKEM_TLS_ALL=1 forbids it."""

import os
import sys
import unittest

SKIPPED = 77


def exit_code(result, everything):
    """Returns the exit code of a unittest.TestResult. A test that was skipped only in part counts as one that ran."""
    if not result.wasSuccessful():
        return 1
    whole = [test for test, _ in result.skipped
             if isinstance(test, unittest.TestCase) and not hasattr(test, "test_case")]  # not a subTest of one
    if everything and result.skipped:
        return 1
    return SKIPPED if result.skipped and len(whole) >= result.testsRun else 0


def main():
    suite = unittest.defaultTestLoader.loadTestsFromNames(sys.argv[1:])
    result = unittest.TextTestRunner(verbosity=2).run(suite)
    for test, reason in result.skipped:
        print(f"skipped: {test}: {reason}")
    return exit_code(result, os.environ.get("POLYKEM_TLS_ALL") == "1")


if __name__ == "__main__":
    sys.exit(main())
