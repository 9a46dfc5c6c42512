#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints a regular expression of the failed tests that are worth another run, or nothing.

    tools/try_again.py BUILD REPORT

Tests with the label `timed` depend on when the machine runs their threads: a deadline that a busy machine misses is no
fault of theirs. One that crashed, or in which a sanitizer found something, is never tried again. REPORT may be that of
such a run.
"""
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as xml

FOUND_A_FAULT = re.compile(r'Sanitizer|runtime error:|==\d+==')


def timed_tests(build):
    listed = subprocess.run(['ctest', '--test-dir', build, '-L', '^timed$', '--show-only=json-v1'], check=True,
                            capture_output=True, text=True).stdout
    return {test['name'] for test in json.loads(listed)['tests']}


def worth_another_run(case):
    crashed = any('Exception' in (failure.get('message') or '') for failure in case.iter('failure'))
    return case.get('status') == 'fail' and not crashed and not FOUND_A_FAULT.search(case.findtext('system-out') or '')


def failed_timed_tests(build, report):
    failed = [case.get('name') for case in xml.parse(report).iter('testcase') if worth_another_run(case)]
    timed = timed_tests(build) if failed else set()
    return [name for name in failed if name in timed]


def expression(names):
    """Of ctest, for exactly these names."""
    return f"^({'|'.join(re.escape(name) for name in names)})$"


def main():
    names = failed_timed_tests(*sys.argv[1:])
    if names:
        print(expression(names))


if __name__ == '__main__':
    main()
