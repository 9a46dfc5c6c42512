# SPDX-License-Identifier: Apache-2.0
"""Interpreters beside the usual one: free-threaded builds, subinterpreters."""
import subprocess
import sys
import sysconfig

import pytest


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this Python has the GIL")
def test_the_gil_stays_off():
    program = "import sys, polykem; polykem.Context().keygen('mlkem512', 9); assert not sys._is_gil_enabled()"
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="before 3.12 no module can refuse subinterpreters")
def test_subinterpreters_are_refused():
    """nanobind's modules live in the main interpreter only; another one gets an ImportError and nothing breaks."""
    program = """
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
import sysconfig
other = interpreters.create()
code = '''
try:
    import polykem._core
except ImportError as error:
    assert "subinterpreter" in str(error), error
else:
    raise SystemExit("it was imported")
'''
try:
    failed = interpreters.run_string(other, code)
except interpreters.RunFailedError as error:
    failed = error
assert not failed, failed
import polykem
assert polykem.Context(threads=1).keygen("mlkem512", 1).pk.any()
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
