# SPDX-License-Identifier: Apache-2.0
"""Tests that a lack of memory in the extension is a MemoryError: failing_memory.py, in a process of its own."""
import os
import subprocess
import sys
from pathlib import Path

import pytest

LIBRARY = os.environ.get("POLYKEM_FAILING_MEMORY")


@pytest.mark.skipif(not LIBRARY, reason="only in a build with tests, which has the library to preload")
@pytest.mark.parametrize("arguments", [[], pytest.param(["--long"], marks=pytest.mark.long)])
def test_every_allocation_fails(arguments):
    pytest.importorskip("polykem.ckks", exc_type=ImportError)
    program = Path(__file__).with_name("failing_memory.py")
    environment = {**os.environ, "LD_PRELOAD": LIBRARY, "POLYKEM_CUDA_MODULE": ""}
    result = subprocess.run([sys.executable, program, *arguments], env=environment, capture_output=True, text=True,
                            timeout=300)
    assert result.returncode == 0, result.stdout + result.stderr
