# SPDX-License-Identifier: Apache-2.0
"""Tests that the program whose types test_typing.py checks runs."""

import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).with_name("typed_bulk.py")


def test_the_program_runs(place):
    done = subprocess.run([sys.executable, PROGRAM], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "holds this job already" not in done.stdout and "began with other inputs" in done.stdout
