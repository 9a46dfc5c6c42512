# SPDX-License-Identifier: Apache-2.0
"""Tests which failed tests get another try: those labelled `timed`, unless they crashed or a sanitizer complained."""

import pathlib
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import try_again  # noqa: E402

REPORT = """<testsuite>
<testcase name="late.one" status="fail"><failure message=""/><system-out>60 ms</system-out></testcase>
<testcase name="late/two # (x)" status="fail"><failure message=""/><system-out/></testcase>
<testcase name="late.three" status="run"><system-out/></testcase>
<testcase name="wrong" status="fail"><failure message=""/><system-out>2 != 3</system-out></testcase>
<testcase name="late.crash" status="fail"><failure message=""/><system-out/></testcase>
<testcase name="late.abort" status="fail"><failure message=""/><system-out/></testcase>
<testcase name="late.race" status="fail"><failure message=""/>
<system-out>WARNING: ThreadSanitizer: data race</system-out></testcase>
</testsuite>"""
LOG = """
    Start 1: late.one
1/7 Test #1: late.one .........................***Failed    0.02 sec
2/7 Test #2: late/two # (x) ...................***Timeout   1.02 sec
3/7 Test #3: late.three .......................   Passed    0.01 sec
 4/7 Test  #4: late.crash .....................***Exception: SegFault  0.00 sec
 5/7 Test #15: late.abort .....................Subprocess aborted***Exception:   0.30 sec
late.one said: 1/7 Test #1: ***Exception
"""
TIMED = {"late.one", "late/two # (x)", "late.three", "late.crash", "late.abort", "late.race"}


class TryAgain(unittest.TestCase):
    def test_chooses(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(try_again, "timed_tests", return_value=TIMED):
            report, log = pathlib.Path(folder) / "report.xml", pathlib.Path(folder) / "log"
            report.write_text(REPORT, encoding="utf-8")
            log.write_text(LOG, encoding="utf-8")
            names = try_again.failed_timed_tests("build", report, log)
        self.assertEqual(names, ["late.one", "late/two # (x)"])

    def test_the_expression_matches_whole_names(self):
        expression = try_again.expression(["late.one", "late/two # (x)"])
        self.assertRegex("late.one", expression)
        self.assertRegex("late/two # (x)", expression)
        self.assertNotRegex("late.one.more", expression)
        self.assertNotRegex("late-one", expression)


if __name__ == "__main__":
    unittest.main()
