#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints a regular expression of the failed tests that are worth another run, or nothing.

    tools/try_again.py BUILD REPORT LOG

Tests with the label `timed` depend on when the machine runs their threads: a deadline that a busy machine misses is no
fault of theirs. One that crashed, or in which a sanitizer found something, is never tried again. REPORT (JUnit) and
LOG, what ctest printed, may be those of such a run; the former does not say what killed a test.
"""
import json
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as xml

CRASHED = re.compile(r'^ *\d+/\d+ Test +#\d+: (.+?) \.*[^.]*\*\*\*Exception', re.M)
FOUND_A_FAULT = re.compile(r'Sanitizer|runtime error:|==\d+==')


def timed_tests(build):
    listed = subprocess.run(['ctest', '--test-dir', build, '-L', '^timed$', '--show-only=json-v1'], check=True,
                            capture_output=True, text=True).stdout
    return {test['name'] for test in json.loads(listed)['tests']}


def worth_another_run(case):
    return case.get('status') == 'fail' and not FOUND_A_FAULT.search(case.findtext('system-out') or '')


def failed_timed_tests(build, report, log):
    failed = [case.get('name') for case in xml.parse(report).iter('testcase') if worth_another_run(case)]
    crashed = CRASHED.findall(pathlib.Path(log).read_text(encoding='utf-8', errors='replace'))
    timed = timed_tests(build) if failed else set()
    return [name for name in failed if name in timed and name not in crashed]


def expression(names):
    """Returns ctest's regular expression for exactly these names."""
    return f"^({'|'.join(re.escape(name) for name in names)})$"


def main():
    names = failed_timed_tests(*sys.argv[1:])
    if names:
        print(expression(names))


if __name__ == '__main__':
    main()
