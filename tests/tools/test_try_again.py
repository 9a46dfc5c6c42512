# SPDX-License-Identifier: Apache-2.0
"""Which failed tests get another try: those with the label `timed`, unless they crashed or a sanitizer spoke."""

import pathlib
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import try_again  # noqa: E402

REPORT = """<testsuite>
<testcase name="late.one" status="fail"><failure message="Failed"/><system-out>60 ms</system-out></testcase>
<testcase name="late/two # (x)" status="fail"><failure message="Timeout"/><system-out/></testcase>
<testcase name="late.three" status="run"><system-out/></testcase>
<testcase name="wrong" status="fail"><failure message="Failed"/><system-out>2 != 3</system-out></testcase>
<testcase name="late.crash" status="fail"><failure message="Exception: SegFault"/><system-out/></testcase>
<testcase name="late.race" status="fail"><failure message="Failed"/>
<system-out>WARNING: ThreadSanitizer: data race</system-out></testcase>
</testsuite>"""
TIMED = {"late.one", "late/two # (x)", "late.three", "late.crash", "late.race"}


class TryAgain(unittest.TestCase):
    def test_chooses(self):
        with tempfile.NamedTemporaryFile("w", suffix=".xml") as report:
            report.write(REPORT)
            report.flush()
            with mock.patch.object(try_again, "timed_tests", return_value=TIMED):
                names = try_again.failed_timed_tests("build", report.name)
        self.assertEqual(names, ["late.one", "late/two # (x)"])

    def test_the_expression_matches_whole_names(self):
        expression = try_again.expression(["late.one", "late/two # (x)"])
        self.assertRegex("late.one", expression)
        self.assertRegex("late/two # (x)", expression)
        self.assertNotRegex("late.one.more", expression)
        self.assertNotRegex("late-one", expression)


if __name__ == "__main__":
    unittest.main()
